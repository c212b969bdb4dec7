"""What every load is held against before it is committed: rules with severities, facts from SQL, and the judging of them."""
