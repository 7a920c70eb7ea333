# Examples of every kind of change and of requests that are refused, with the status of each answer. They continue those of actions.md, where SERVER, JSON
# and PROJECT are set: PLAN and HASH are id and hash of the plan before, CHUNK, MIN and MAX come from the first command.

curl -s "$SERVER/api/v1/collections/yorkie-meta.changes/chunks?limit=2" # CHUNK, MIN and MAX
# → 200
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "split", "args": {"ns": "yorkie-meta.changes", "chunk": "'$CHUNK'", "parts": 4}, "reason": "spread the writes"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "split-project", "args": {"project": "'$PROJECT'"}, "reason": "it is hot"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "split-hot", "args": {"ns": "yorkie-meta.changes", "chunk": "'$CHUNK'"}, "reason": "it is hot"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "split-hot", "args": {"ns": "yorkie-meta.changes", "chunks": ["'$CHUNK'"], "to": "shard-rs-2"}, "reason": "it is hot"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "merge", "args": {"ns": "yorkie-meta.changes", "min": '"$MIN"', "max": '"$MAX"'}, "reason": "cut by mistake"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "move", "args": {"ns": "yorkie-meta.changes", "chunk": "'$CHUNK'", "to": "shard-rs-2"}, "reason": "shard-rs-1 is full"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "clear-jumbo", "args": {"ns": "yorkie-meta.changes", "chunk": "'$CHUNK'"}, "reason": "it fits now"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "refine-key", "args": {"ns": "yorkie-meta.documents", "key": {"project_id": 1, "key": 1}}, "reason": "one project is too hot for a shard"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "reshard", "args": {"ns": "yorkie-meta.clients",
  "key": {"project_id": 1, "key": 1}}, "reason": "clients are found by their key"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "reshard", "args": {"ns": "yorkie-meta.clients", "key": {"project_id": 2}}, "reason": "not a shard key"}'
# → 400
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "reshard-abort", "args": {"ns": "yorkie-meta.clients"}, "reason": "too much load"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "reshard-commit", "args": {"ns": "yorkie-meta.clients"}, "reason": "nobody writes now"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "move-primary", "args": {"db": "yorkie-meta", "to": "shard-rs-2"}, "reason": "shard-rs-1 is to be removed"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "move-collection", "args": {"ns": "yorkie-meta.users", "to": "shard-rs-2"}, "reason": "shard-rs-1 is full"}' # 5.0
# → 400
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "move-collection-abort", "args": {"ns": "yorkie-meta.users"}, "reason": "too slow"}' # 5.0
# → 400
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "unshard-collection", "args": {"ns": "yorkie-meta.schemas"}, "reason": "small"}' # 5.0
# → 400
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "unshard-collection-abort", "args": {"ns": "yorkie-meta.schemas"}, "reason": "slow"}' # 5.0
# → 400
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "pin", "args": {"project": "'$PROJECT'", "shard": "shard-rs-3", "expires": "720h", "owner": "on-call"}, "reason": "noisy neighbour"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "pin", "args": {"project": "'$PROJECT'", "shard": "shard-rs-2", "pause": "collections"}, "reason": "in the busy hour"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "isolate", "args": {"project": "'$PROJECT'", "shard": "shard-rs-3"}, "reason": "noisy neighbour"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans/$PLAN/run -d '{"hash": "'$HASH'", "confirm": "something else"}'
# → 400
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "unpin", "args": {"project": "'$PROJECT'"}, "reason": "calm again"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "spread", "args": {"project": "'$PROJECT'"}, "reason": "many clients"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "drain-shard", "args": {"shard": "shard-rs-1"}, "reason": "old hardware"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "stop-draining", "args": {"shard": "shard-rs-1"}, "reason": "it is needed after all"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "remove-shard", "args": {"shard": "shard-rs-1"}, "reason": "it is empty"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "zone-add-shard", "args": {"shard": "shard-rs-1", "zone": "eu"}, "reason": "new zone"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "zone-remove-shard", "args": {"shard": "shard-rs-2", "zone": "eu"}, "reason": "not in it"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "zone-set-range", "args": {"ns": "yorkie-meta.documents", "zone": "eu",
  "min": {"project_id": {"$minKey": 1}}, "max": {"project_id": {"$oid": "'$PROJECT'"}}}, "reason": "data of the EU"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "zone-remove-range", "args": {"ns": "yorkie-meta.documents",
  "min": {"project_id": {"$minKey": 1}}, "max": {"project_id": {"$oid": "'$PROJECT'"}}}, "reason": "no more"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "balancer-on", "reason": "maintenance is over"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "balancer-off", "reason": "maintenance"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "balancer-window", "args": {"start": "01:00", "stop": "05:00"}, "reason": "at night only"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "balance-collection", "args": {"ns": "yorkie-meta.changes", "on": false}, "reason": "leave it"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "defragment", "args": {"ns": "yorkie-meta.changes", "on": true}, "reason": "100,000 small chunks"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "auto-merge", "args": {"ns": "yorkie-meta.changes", "on": false}, "reason": "split by hand"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "chunk-size", "args": {"ns": "yorkie-meta.changes", "size": 32}, "reason": "balance it finer"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "allow-migrations", "args": {"ns": "yorkie-meta.changes", "on": false}, "reason": "restore of a backup"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "batch", "args": {"plans": [
  {"kind": "pin", "args": {"project": "'$PROJECT'", "shard": "shard-rs-3"}},
  {"kind": "split", "args": {"ns": "yorkie-meta.changes", "chunk": "'$CHUNK'", "parts": 4}}], "group": 5}, "reason": "before the big day"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "batch", "args": {"projects": ["'$PROJECT'"], "each": "pin", "shard": "shard-rs-3",
  "bytesPerHour": 10000000000}, "reason": "make room"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "batch", "args": {"plans": []}, "reason": "nothing"}'
# → 400
curl -s -X POST $SERVER/api/v1/runs/$RUN/pause # not a batch
# → 409
curl -s -X POST $SERVER/api/v1/runs/$RUN/resume # likewise
# → 409
curl -s "$SERVER/api/v1/runs/$RUN/items?limit=50" # likewise
# → 404
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "balancer-off"}' # no reason
# → 400
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "split", "args": {"ns": "yorkie-meta.documents", "at": {"project_id": "text"}}, "reason": "a key of the wrong type"}'
# → 400
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "move", "args": {"ns": "yorkie-meta.changes", "chunk": "'$CHUNK'", "to": "shard-rs-9"}, "reason": "no such shard"}'
# → 404
curl -s -H "$JSON" $SERVER/api/v1/plans -d '{"kind": "zone-remove-shard", "args": {"shard": "shard-rs-2", "zone": "us"}, "reason": "it is not in it"}'
# → 201
curl -s -H "$JSON" $SERVER/api/v1/plans/$PLAN/run -d '{"hash": "0000"}' # not the hash: `changed` has the field `hash`
# → 409
curl -s -H "$JSON" $SERVER/api/v1/plans/$PLAN/run -d '{"hash": "'$HASH'"}' # a check blocks
# → 422
