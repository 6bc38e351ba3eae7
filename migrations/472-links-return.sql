-- A forgotten password leads on to the page that asked for the sign-in. The link keeps it, so the address in the mail stays short.
alter table recovery_requests add column return_to text not null default '/';
alter table account_links add column return_to text not null default '/';
-- The notice that offered “This wasn't me”, which its page names. Null for links of other purposes and older ones.
alter table account_links add column event text;
