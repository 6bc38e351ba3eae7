-- Proposals also change settings and terms, so the table is named for all of them.
alter table correction_proposals rename to proposals;

alter table proposals rename constraint correction_proposals_pkey to proposals_pkey;
alter table proposals rename constraint correction_proposals_proposed_by_fkey to proposals_proposed_by_fkey;
alter table proposals rename constraint correction_proposals_decided_by_fkey to proposals_decided_by_fkey;
alter table proposals rename constraint correction_proposals_kind to proposals_kind;
alter table proposals rename constraint correction_proposals_act to proposals_act;
alter table proposals rename constraint correction_proposals_decision to proposals_decision;
alter table proposals rename constraint correction_proposals_decided to proposals_decided;
alter table proposals rename constraint correction_proposals_two_people to proposals_two_people;
alter table proposals rename constraint correction_proposals_own_withdrawal to proposals_own_withdrawal;
alter table proposals rename constraint correction_proposals_in_time to proposals_in_time;
alter index correction_proposals_open rename to proposals_open;
alter index correction_proposals_key_key rename to proposals_key_key;
alter sequence correction_proposals_id_seq rename to proposals_id_seq;

-- functions/guards creates both under their new names. A new database has no trigger here yet.
drop trigger if exists correction_proposals_not_deleted on proposals;
drop trigger if exists correction_proposals_kept on proposals;
