package actions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// checkShardKeyIndex checks the indexes for a new shard key as the server does: one must
// begin with it and have all rows, and every unique index must begin with its fields
// (MongoDB 5.0.7, db/s/shard_key_util.cpp). Index builds are left to people, because
// they load the shards for a long time.
func (d *draftBuilder) checkShardKeyIndex(c *topology.Collection, next shardkey.Pattern) (out findings) {
	out.needs.Indexes = c.NS
	x := d.s.Indexes
	facts := []message.Fact{
		message.Namespace("ns", c.NS), message.Text("key", next.String()), message.Words("command", createIndexCommand(c.NS, next)),
	}
	if x.At.IsZero() {
		reason := cmp.Or(x.Reason, reasonNotLoaded)
		out.warn("index", message.New("notAsked", "The cluster was not asked, or did not answer"), message.New("index.unknown",
			"The indexes of {ns} could not be read ({reason}). Without an index that begins with {key}, the server refuses "+
				"the command and nothing changes. The command that makes it: {command}.",
			append(facts, message.Coded("reason", reason, topology.ReasonText(reason)))...))
		return out
	}
	source := message.New("indexes", "The indexes of one shard, read at {at}", message.Time("at", x.At))
	out.add(d.checkUniqueIndexes(c, next, source))
	var unfit []string
	for _, i := range x.All {
		if !beginsWith(i, next, true) {
			continue
		}
		why := i.Unfit()
		if why == "" {
			out.pass("index", source, message.New("index.found", "The index {index} begins with {key}.",
				append(facts, message.Text("index", sanitize.Truncate(i.Name, shownName)))...))
			return out
		}
		unfit = append(unfit, fmt.Sprintf("%s is %s", sanitize.Truncate(i.Name, shownName), why))
	}
	if len(unfit) > 0 {
		out.block("index", source, message.New("index.unfit",
			"No index of {ns} can support {key}: {unfit}. A shard key needs an index of all rows. Make one in mongosh, wait until it "+
				"is built, and plan again: {command}.",
			append(facts, message.Text("unfit", strings.Join(unfit, "; ")))...))
		return out
	}
	out.block("index", source, message.New("index.missing",
		"No index of {ns} begins with {key}. Make one in mongosh, wait until it is built on every shard, and plan again: {command}.",
		facts...))
	return out
}

// checkUniqueIndexes blocks a key that would leave a unique index without the whole key
// at its begin: no shard alone could keep its values unique. The index of _id is
// unique per shard only, and the server accepts it.
func (d *draftBuilder) checkUniqueIndexes(c *topology.Collection, next shardkey.Pattern, source message.Message) (out findings) {
	if i, ok := d.s.Indexes.uniqueWithout(next); ok {
		out.block("unique", source, message.New("unique.conflict",
			"The unique index {index} of {ns} does not begin with {key}, so its values could no longer be kept unique, and the "+
				"server refuses. Choose fields that it has next, or replace the index.",
			message.Namespace("ns", c.NS), message.Text("key", next.String()),
			message.Text("index", sanitize.Truncate(i.Name, shownName))))
		return out
	}
	exact := slices.ContainsFunc(d.s.Indexes.All, func(i operation.Index) bool {
		return i.Unique && firstField(i) != "_id" && beginsWith(i, next, true) && i.Fields() == next.Len()
	})
	if c.Unique && !exact {
		out.block("unique", source, message.New("unique.key",
			"The shard key of {ns} is unique, and no unique index has exactly the fields of {key}. Make one first.",
			message.Namespace("ns", c.NS), message.Text("key", next.String())))
	}
	return out
}

// uniqueWithout is the first unique index, other than that of _id, that does not begin with
// the fields of a key.
func (x Indexes) uniqueWithout(key shardkey.Pattern) (operation.Index, bool) {
	for _, i := range x.All {
		if i.Unique && firstField(i) != "_id" && !beginsWith(i, key, false) {
			return i, true
		}
	}
	return operation.Index{}, false
}

// shownName limits, in bytes, the name of an index in a sentence.
const shownName = 80

func firstField(i operation.Index) string {
	if e, err := i.Key.IndexErr(0); err == nil {
		return e.Key()
	}
	return ""
}

// beginsWith reports whether an index begins with the fields of a key; with directions,
// also whether each is ascending or hashed like the key's.
func beginsWith(i operation.Index, key shardkey.Pattern, directions bool) bool {
	elements, err := i.Key.Elements()
	if err != nil || len(elements) < key.Len() {
		return false
	}
	for n, f := range key.Fields() {
		value := elements[n].Value()
		if elements[n].Key() != f.Name {
			return false
		}
		text, isText := value.StringValueOK()
		number, isNumber := value.AsFloat64OK()
		same := f.Hashed && isText && text == "hashed" || !f.Hashed && isNumber && number == 1
		if directions && !same {
			return false
		}
	}
	return true
}

// createIndexCommand is what to type in mongosh.
func createIndexCommand(ns topology.Namespace, key shardkey.Pattern) string {
	fields := make([]string, 0, key.Len())
	for _, f := range key.Fields() {
		value := "1"
		if f.Hashed {
			value = `"hashed"`
		}
		fields = append(fields, sanitize.Quoted(f.Name)+": "+value)
	}
	return "db.getSiblingDB(" + sanitize.Quoted(ns.Database()) + ").getCollection(" + sanitize.Quoted(ns.Collection()) +
		").createIndex({" + strings.Join(fields, ", ") + "})"
}
