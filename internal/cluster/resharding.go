package cluster

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// reshardingLimit is more than a cluster can have, because operations run one at a time.
const reshardingLimit = 100

// reshardings reads the running reshardings of a collection, or of all with "", without
// the shards' parts. config.reshardingOperations has them too, but no more of what is
// needed here: its documents and these fields of the collections are written in the same
// transactions. The collections are read for the routing table anyway, so no other
// privilege is needed.
func (c *Client) reshardings(ctx context.Context, ns topology.Namespace) (out []operation.Resharding, err error) {
	release, err := c.release(ctx)
	if err != nil || !release.atLeast(5, 0, 0) {
		return nil, err
	}
	filter := bson.D{{Key: "reshardingFields", Value: bson.D{{Key: "$exists", Value: true}}}}
	if ns != "" {
		filter = append(bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: string(ns)}}}}, filter...)
	}
	cmd := find("collections", filter, append(singleBatch(reshardingLimit), fields("_id", "reshardingFields.uuid", "reshardingFields.state",
		"reshardingFields.donorFields.reshardingKey", "reshardingFields.provenance"), withMajority)...)
	at := time.Now()
	err = c.each(ctx, "config", cmd, findOn("collections", "read the running reshardings"), func(doc bson.Raw) error {
		name, _ := doc.Lookup("_id").StringValueOK()
		if topology.IsTemporary(topology.Namespace(name)) {
			return nil
		}
		r := operation.Resharding{NS: topology.Namespace(name), Command: operation.OfReshardCollection, At: at}
		if sub, data, ok := doc.Lookup("reshardingFields", "uuid").BinaryOK(); ok && sub == bson.TypeBinaryUUID && len(data) == 16 {
			r.ID = operation.UUIDText([16]byte(data))
		}
		r.State, _ = doc.Lookup("reshardingFields", "state").StringValueOK()
		// Not there at the very beginning, nor while it commits.
		if key, ok := doc.Lookup("reshardingFields", "donorFields", "reshardingKey").DocumentOK(); ok {
			r.Key = operation.KeyText(key)
		}
		if text, ok := doc.Lookup("reshardingFields", "provenance").StringValueOK(); ok && text != "" {
			r.Command = text
		}
		out = append(out, r)
		return nil
	})
	return out, err
}

// withShards adds what each shard does. Needs inprog on the cluster; without it, the
// reason is noted.
func (c *Client) withShards(ctx context.Context, r *operation.Resharding) error {
	cmd := bson.D{
		{Key: "aggregate", Value: 1},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$currentOp", Value: bson.D{{Key: "allUsers", Value: true}, {Key: "localOps", Value: false}}}},
			bson.D{{Key: "$match", Value: bson.D{
				{Key: "type", Value: "op"},
				{Key: "originatingCommand.reshardCollection", Value: bson.D{{Key: "$eq", Value: string(r.NS)}}},
			}}},
			bson.D{{Key: "$project", Value: including("shard", "donorState", "recipientState", "approxDocumentsToCopy", "documentsCopied",
				"approxBytesToCopy", "bytesCopied", "oplogEntriesFetched", "oplogEntriesApplied",
				"remainingOperationTimeEstimatedSecs")}},
		}},
		{Key: "cursor", Value: bson.D{}},
	}
	shards := map[string]*operation.ReshardingShard{}
	err := c.each(ctx, "admin", cmd, readOp{what: "read the progress of a resharding", privilege: "inprog on the cluster"},
		func(doc bson.Raw) error {
			name, _ := doc.Lookup("shard").StringValueOK()
			s := shards[name]
			if s == nil {
				s = &operation.ReshardingShard{Shard: name, Left: -1}
				shards[name] = s
			}
			readShard(doc, s)
			return nil
		})
	if fault.Of(err) == fault.Forbidden {
		r.Reason = "notPermitted"
		return nil
	}
	for _, s := range shards {
		if s.Donor+s.Recipient != "" {
			r.Shards = append(r.Shards, *s)
		}
	}
	slices.SortFunc(r.Shards, func(a, b operation.ReshardingShard) int { return natural.Compare(a.Shard, b.Shard) })
	return err
}

// readShard reads a row of $currentOp: a shard has one as a donor and one as a recipient.
func readShard(doc bson.Raw, s *operation.ReshardingShard) {
	if state, ok := doc.Lookup("donorState").StringValueOK(); ok {
		s.Donor = state
	}
	state, ok := doc.Lookup("recipientState").StringValueOK()
	if !ok {
		return
	}
	s.Recipient = state
	for field, into := range map[string]*int64{
		"approxDocumentsToCopy": &s.DocumentsEstimate, "documentsCopied": &s.Documents, "approxBytesToCopy": &s.BytesEstimate,
		"bytesCopied": &s.Bytes, "oplogEntriesFetched": &s.Fetched, "oplogEntriesApplied": &s.Applied,
	} {
		if n, ok := topology.Amount(doc.Lookup(field)); ok {
			*into = n
		}
	}
	if n, ok := topology.Amount(doc.Lookup("remainingOperationTimeEstimatedSecs")); ok {
		s.Left = max(-1, n)
	}
}

// reshardingFact reads the running resharding of a collection, or the namespaces of all.
func (c *Client) reshardingFact(ctx context.Context, f operation.Fact) (map[string]string, error) {
	all, err := c.reshardings(ctx, f.NS)
	switch {
	case err != nil:
		return nil, err
	case f.NS == "":
		var names []topology.Namespace
		for _, r := range all {
			names = append(names, r.NS)
		}
		natural.Sort(names)
		texts := make([]string, len(names))
		for i, ns := range names {
			texts[i] = string(ns)
		}
		return map[string]string{"running": strings.Join(texts, ",")}, nil
	case len(all) == 0:
		return map[string]string{"id": "", "newKey": ""}, nil
	}
	return map[string]string{"id": all[0].ID, "newKey": all[0].Key}, nil
}

// traceResharding looks for the operation that a step on a resharding started or ends: in
// the running reshardings, and, while the command has not begun one, among the operations
// of the mongos and the shards. An operation with the same collection and key is the
// step's, whoever started it: the server lets the same command join it.
func (c *Client) traceResharding(ctx context.Context, run string, s operation.Step, since time.Time) (t operation.Trace, err error) {
	if t.Events, err = c.Changelog(ctx, s.NS, since.Add(-clockSkew), changelogLimit); err != nil && fault.Of(err) != fault.Forbidden {
		return t, err
	}
	all, err := c.reshardings(ctx, s.NS)
	if err != nil {
		return t, err
	}
	for _, r := range all {
		if s.Reshard != nil && r.Key != "" && r.Key != operation.KeyText(s.Reshard.Key) {
			continue
		}
		t.Running = true
		if err := c.withShards(ctx, &r); err != nil {
			return t, err
		}
		t.Resharding = &r
		return t, nil
	}
	ops, err := c.operations(ctx)
	if err != nil && fault.Of(err) != fault.Forbidden {
		return t, err
	}
	t.Running = slices.ContainsFunc(ops, func(o operationRow) bool { return o.matches(run, s) || o.reshards(s) })
	return t, nil
}

// reshards reports whether the operation is a resharding of a step's collection to its key.
func (o operationRow) reshards(s operation.Step) bool {
	name, ns := o.name()
	key, ok := o.command.Lookup("key").DocumentOK()
	if !ok || name != "reshardCollection" || topology.Namespace(ns) != s.NS || s.Reshard == nil {
		return false
	}
	p, err := shardkey.ParsePattern(key)
	return err == nil && p.String() == operation.KeyText(s.Reshard.Key)
}

// addReshardings adds the running reshardings to what is running.
func (c *Client) addReshardings(ctx context.Context, a *operation.Activity) error {
	all, err := c.reshardings(ctx, "")
	if fault.Of(err) == fault.Forbidden {
		a.ReshardingsReason = "notPermitted"
		return nil
	}
	for i := range all {
		if err := c.withShards(ctx, &all[i]); err != nil {
			return err
		}
	}
	a.Reshardings = all
	return err
}

// indexBuild returns the index build, if the operation is one.
func (o operationRow) indexBuild() (op operation.Running, ok bool) {
	name, coll := o.name()
	if name != "createIndexes" {
		return op, false
	}
	db, _ := o.command.Lookup("$db").StringValueOK()
	return operation.Running{NS: topology.Namespace(db + "." + coll), What: name, For: o.running}, true
}
