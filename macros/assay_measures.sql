{#-
The registry: every measure that assay_scores holds, one line each.

name             the measure; its formula is the macro measure_<name> in macros/measures/<name>.sql
grain            context_at_k, context, answer or trace: the mart that the formula reads (assay_grains below)
unit             what the value is: a share, or yes/no as 1/0
lowest, highest  the range that the values of a query can take
needs_judgments  true where it is undefined for a query that nobody judged
definition       in plain words
source           where the definition comes from

A consumer adds lines of the same form with the var assay_extra_measures, and a macro measure_<name> for each. Those stand in assay_scores
and all that reads it; the marts' own columns, which contracts fix, are the package's own measures.
-#}
{% macro assay_measures(with_extra=true) %}
    {%- set chapter = 'Retrieval for LLM applications' -%}
    {%- set measures = [
        {
            'name': 'precision', 'grain': 'context_at_k', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'Exact documents among the first k, divided by k. A short list still divides by k.',
            'source': 'trec_eval, P',
        },
        {
            'name': 'recall', 'grain': 'context_at_k', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'Exact documents among the first k, divided by the exact documents judged for the query.',
            'source': 'trec_eval, recall; Ragas, ID-based context recall',
        },
        {
            'name': 'recall_reachable', 'grain': 'context_at_k', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'Exact documents of the catalog among the first k, divided by those that the catalog holds.',
            'source': 'recall without the judged documents that no retriever could return',
        },
        {
            'name': 'context_precision', 'grain': 'context_at_k', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'The mean of precision@i over the places i among the first k that hold an exact document; 0 without any.',
            'source': 'Ragas, context precision, with people as the reference',
        },
        {
            'name': 'judged', 'grain': 'context_at_k', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'Distinct judged documents among the first k, divided by the distinct documents there.',
            'source': 'ir_measures, Judged',
        },
        {
            'name': 'ndcg', 'grain': 'context_at_k', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'Grades discounted by log2(rank + 1) and summed over the first k, divided by the most that the judgments allow.',
            'source': 'Jarvelin and Kekalainen 2002; trec_eval, ndcg_cut',
        },
        {
            'name': 'ap', 'grain': 'context_at_k', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'The sum of precision@i over the places i among the first k that hold an exact document, divided by all exact.',
            'source': 'trec_eval, map_cut',
        },
        {
            'name': 'rr', 'grain': 'context_at_k', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'One divided by the place of the first exact document; 0 where the first k hold none.',
            'source': 'trec_eval, recip_rank, on the first k',
        },
        {
            'name': 'hit', 'grain': 'context_at_k', 'unit': 'yes/no', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': '1 where the first k hold an exact document, else 0.',
            'source': 'trec_eval, success',
        },
        {
            'name': 'precision_high', 'grain': 'context_at_k', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'precision with the unjudged documents of the catalog counted as exact: the most it could be.',
            'source': 'bounds over unjudged documents, as in Moffat and Zobel 2008',
        },
        {
            'name': 'precision_condensed', 'grain': 'context_at_k', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'precision of the list without its unjudged documents, still divided by k.',
            'source': 'Sakai 2007, condensed lists',
        },
        {
            'name': 'id_precision', 'grain': 'context', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'Distinct exact documents of the whole list, divided by its distinct documents.',
            'source': 'Ragas, ID-based context precision',
        },
        {
            'name': 'id_recall', 'grain': 'context', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'Distinct exact documents of the whole list, divided by the exact documents judged for the query.',
            'source': 'Ragas, ID-based context recall',
        },
        {
            'name': 'exact_share', 'grain': 'answer', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'Cited documents that people judged exact, divided by the documents cited; 0 where nothing is cited.',
            'source': chapter,
        },
        {
            'name': 'exact_share_high', 'grain': 'answer', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'exact_share with the unjudged documents of the catalog counted as exact: the most it could be.',
            'source': 'bounds over unjudged documents, as in Moffat and Zobel 2008',
        },
        {
            'name': 'grounded_exact_share', 'grain': 'answer', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'exact_share with a citation from outside the context counted as not exact.',
            'source': chapter,
        },
        {
            'name': 'abstained', 'grain': 'answer', 'unit': 'yes/no', 'lowest': 0, 'highest': 1, 'needs_judgments': false,
            'definition': '1 where the list of citations is there and empty, else 0.',
            'source': chapter,
        },
        {
            'name': 'outside_context', 'grain': 'answer', 'unit': 'yes/no', 'lowest': 0, 'highest': 1, 'needs_judgments': false,
            'definition': '1 where the answer cites a document of the catalog that its context did not hold, else 0.',
            'source': chapter,
        },
        {
            'name': 'unknown_id', 'grain': 'answer', 'unit': 'yes/no', 'lowest': 0, 'highest': 1, 'needs_judgments': false,
            'definition': '1 where the answer cites an ID that neither its context nor the catalog holds, else 0.',
            'source': chapter,
        },
        {
            'name': 'malformed', 'grain': 'answer', 'unit': 'yes/no', 'lowest': 0, 'highest': 1, 'needs_judgments': false,
            'definition': '1 where the answer cites something that is no ID (blank, none, null, n/a, no string or whole number), else 0.',
            'source': chapter,
        },
        {
            'name': 'repeated', 'grain': 'answer', 'unit': 'yes/no', 'lowest': 0, 'highest': 1, 'needs_judgments': false,
            'definition': '1 where the answer cites one document more than once, else 0.',
            'source': chapter,
        },
        {
            'name': 'too_many', 'grain': 'answer', 'unit': 'yes/no', 'lowest': 0, 'highest': 1, 'needs_judgments': false,
            'definition': '1 where the answer cites more documents than max_recommendations allows, else 0; undefined without that.',
            'source': chapter,
        },
        {
            'name': 'text_and_field_difference', 'grain': 'answer', 'unit': 'yes/no', 'lowest': 0, 'highest': 1, 'needs_judgments': false,
            'definition': '1 where the IDs of the context that the text names are not those that the field cites, else 0.',
            'source': chapter,
        },
        {
            'name': 'pick_precision', 'grain': 'trace', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'Exact documents among the first n picks of a task, divided by n, its recording\'s max_recommendations.',
            'source': chapter,
        },
        {
            'name': 'first_search_precision', 'grain': 'trace', 'unit': 'share', 'lowest': 0, 'highest': 1, 'needs_judgments': true,
            'definition': 'Exact documents among the first n results of the first search of a task, divided by n: the tool\'s own picks.',
            'source': chapter,
        },
    ] -%}
    {{ return(measures + (var('assay_extra_measures', []) if with_extra else [])) }}
{% endmacro %}


{#-
What the measures of one grain have in common.

model      the mart that their formulas read
k          the measure's cutoff, as a column of that mart; null where there is none
is_known   true where what is measured was recorded at all: nothing is measured on a list that is unknown, or on citations
           that nobody asked for
is_broken  true where the value is 0 because the answer is broken
-#}
{% macro assay_grains() %}
    {{ return({
        'context_at_k': {'model': 'assay_context_scores', 'k': 'k', 'is_known': 'has_documents', 'is_broken': 'false'},
        'context': {'model': 'assay_contexts', 'k': 'null', 'is_known': 'has_documents', 'is_broken': 'false'},
        'answer': {'model': 'assay_answers', 'k': 'null', 'is_known': 'is_citation_asked', 'is_broken': 'is_broken'},
        'trace': {'model': 'assay_traces', 'k': 'max_recommendations', 'is_known': 'true', 'is_broken': 'is_broken'},
    }) }}
{% endmacro %}


{#- The package's own measures of one grain, in the registry's order: the columns of its mart. -#}
{% macro assay_measures_of(grain) %}
    {{ return(assay_measures(with_extra=false) | selectattr('grain', 'equalto', grain) | list) }}
{% endmacro %}


{#- One line of the registry by its name. -#}
{% macro assay_measure(name) %}
    {%- set found = assay_measures() | selectattr('name', 'equalto', name) | list -%}
    {%- if found | length != 1 -%}
        {{ exceptions.raise_compiler_error('The registry has ' ~ found | length ~ ' measures of the name ' ~ name) }}
    {%- endif -%}
    {{ return(found[0]) }}
{% endmacro %}
