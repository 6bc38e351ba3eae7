-- 410 drops this function under the name that it has now, so an upgraded database kept it under the one before.
drop function if exists ways_back(text[], timestamptz);
