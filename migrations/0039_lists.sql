-- An application's transfers, page by page. Its orders have such an index.
create index transfers_of_app_by_id on transfers (app_id, id);
