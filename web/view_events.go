package web

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// event is a changelog entry with its details read. Sources of the shapes:
// MongoDB 5.0 and 6.0, sharding_logging.cpp and its callers.
type event struct {
	topology.Event
	from, to string
	min, max bson.Raw
	failed   bool
	why      history.Reason // of a failure
	count    int64          // of chunks, for merges and splits
}

func readEvent(e topology.Event) event {
	x := event{Event: e}
	d := e.Details
	if len(d) == 0 {
		return x
	}
	x.from, x.to = textAt(d, "from"), textAt(d, "to")
	x.min, x.max = docAt(d, "min"), docAt(d, "max")
	note := textAt(d, "note")
	switch e.What {
	case "moveChunk.error":
		x.failed = true
	case "moveChunk.from", "moveChunk.to":
		// The donor also logs "aborted" for a request to move a chunk to
		// where it already is: nothing failed.
		x.failed = note == "aborted" && x.from != x.to
	case "movePrimary.error":
		x.failed = true
	case "split", "multi-split":
		b := docAt(d, "before")
		x.min, x.max = docAt(b, "min"), docAt(b, "max")
		x.from = textAt(d, "owningShard")
		x.count = intAt(d, "of")
	case "merge", "autoMerge":
		x.from = textAt(d, "owningShard")
		x.count = intAt(d, "numChunks")
		if x.min == nil {
			x.merged(d)
		}
	case "removeShard", "removeShard.start":
		x.from = textAt(d, "shard")
	case "addShard":
		x.to = textAt(d, "name")
	}
	if x.failed {
		x.why = history.Reason{Text: textAt(d, "errmsg"), From: e.What}
		x.why.Code = history.CodeOf(x.why.Text)
	}
	return x
}

// because takes over the reason that another entry of the same move has.
func (x event) because(reasons map[string]history.Reason) event {
	if r, ok := reasons[x.ID]; ok && x.failed {
		x.why = r
	}
	return x
}

// merged reads the bounds of a 4.4 or 5.0 merge, which lists the old chunks.
func (x *event) merged(d bson.Raw) {
	list, ok := d.Lookup("merged").ArrayOK()
	if !ok {
		return
	}
	parts, err := list.Values()
	if err != nil || len(parts) == 0 {
		return
	}
	x.count = int64(len(parts))
	if first, ok := parts[0].DocumentOK(); ok {
		x.min = docAt(first, "min")
	}
	if last, ok := parts[len(parts)-1].DocumentOK(); ok {
		x.max = docAt(last, "max")
	}
}

// outcome tells whether the entry says what came of something, rather than
// being a step on the way: a migration that went well logs three others.
func (x event) outcome() bool {
	switch x.What {
	case "moveChunk.start", "moveChunk.to", "shardCollection.start", "dropCollection.start", "dropDatabase.start",
		"renameCollection.start", "renameCollection.metadata", "refineCollectionShardKey.start", "movePrimary.start":
		return false
	case "moveChunk.from":
		return false // its failure is also a moveChunk.error
	case "multi-split":
		n, _ := x.Details.Lookup("number").AsInt64OK()
		return n <= 1
	}
	return true
}

// eventRow puts an entry into words. The server's own texts are shown as they
// are, as text.
func eventRow(v View, r refs, x event) templates.EventRow {
	row := templates.EventRow{Key: x.ID, When: templates.Ago(x.Time, v.Now), What: x.What, NS: x.NS, Failed: x.failed}
	code := x.What
	if (code == "moveChunk.from" || code == "moveChunk.to") && x.failed {
		code += ".aborted"
	} else if code == "moveChunk.from" && x.from == x.to && x.from != "" {
		code += ".same"
	}
	row.Text = words.Code("event", code, map[string]string{"n": format.Count(x.count)})
	if v.Table.Collection(topology.Namespace(x.NS)) != nil {
		row.URL = collectionURL(topology.Namespace(x.NS))
	}
	for _, s := range []struct {
		name string
		into **templates.ShardRef
	}{{x.from, &row.From}, {x.to, &row.To}} {
		if s.name != "" {
			ref := r.of(s.name)
			*s.into = &ref
		}
	}
	if x.min != nil && x.max != nil {
		row.Min, row.Max = boundOf(v.Table, x.NS, x.min), boundOf(v.Table, x.NS, x.max)
		row.Chunk = chunkOfBound(v.Table, topology.Namespace(x.NS), x.min)
	}
	if x.failed {
		row.Why, row.Server = failureMeans(x.why.Code), reasonText(x.why)
	}
	return row
}

func textAt(d bson.Raw, key string) string {
	s, _ := d.Lookup(key).StringValueOK()
	return s
}

func docAt(d bson.Raw, key string) bson.Raw {
	if len(d) == 0 {
		return nil
	}
	r, _ := d.Lookup(key).DocumentOK()
	return r
}

func intAt(d bson.Raw, key string) int64 {
	n, _ := d.Lookup(key).AsInt64OK()
	return n
}
