with

support as (

    select * from {{ ref('stg_assay__support') }}

),

final as (

    select
        recording_id,
        line,
        query_id,
        retriever,
        trial,
        claim,
        judge,
        judge = 'person' or judge like 'person:%' as is_person,
        label,
        score
    from support

)

select * from final
