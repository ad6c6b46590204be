-- Every reason code that a decision gives is described in the seed.
select
    subject,
    reason_code

from {{ ref('decisions') }}

where reason_text is null
