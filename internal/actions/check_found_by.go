package actions

import (
	"slices"
	"strings"

	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// checkFoundBy checks whether the program that writes the collection still can. A
// findAndModify without the whole shard key is refused before MongoDB 7.0 (61,
// ShardKeyNotFound); since then, a router that cannot name one shard asks several and
// writes in a transaction.
func (d *draftBuilder) checkFoundBy(c *topology.Collection, next shardkey.Pattern) (out findings) {
	source := message.New("profile", "How the program writes, by its profile")
	without, known := d.foundWithout(c, next)
	facts := []message.Fact{
		message.Namespace("ns", c.NS), message.Text("key", next.String()), message.Text("fields", "{"+strings.Join(without, ", ")+"}"),
		message.Text("release", d.s.Release.String()),
	}
	switch r := d.s.Release; {
	case !known:
		out.warn("application", source, message.New("application.unknown",
			"How programs write {ns} is not known. Upserts need the whole key {key} in their filter from then on; before MongoDB 7.0, "+
				"findAndModify does too.", facts...))
	case len(without) == 0:
		out.pass("application", source, message.New("application.whole",
			"The program’s findAndModify commands on {ns} contain the whole key {key}.", facts...))
	case !r.Known():
		out.block("application", source, message.New("application.release",
			"The program changes rows of {ns} by findAndModify with {fields}, without the whole key {key}. MongoDB before 7.0 refuses "+
				"that, and the version of this cluster is not known.", facts...))
	case !r.AtLeast(7, 0, 0):
		out.block("application", source, message.New("application.refused",
			"The program changes rows of {ns} by findAndModify with {fields}, without the whole key {key}. That needs MongoDB 7.0 or "+
				"later; this cluster runs {release}, where such commands fail. Upgrade first, or pin the project to a shard with "+
				"room.", facts...))
	case !r.AtLeast(7, 1, 0):
		out.warn("application", source, message.New("application.slowerUntried",
			"The program changes rows of {ns} by findAndModify with {fields}, without the whole key {key}. Once a project is on several "+
				"shards, these commands ask each of them first and get slower. MongoDB’s manual names 7.1 as the first release "+
				"with this for all cases; try it on a copy of the cluster before, because this cannot be undone.", facts...))
	default:
		out.warn("application", source, message.New("application.slower",
			"The program changes rows of {ns} by findAndModify with {fields}, without the whole key {key}. Once a project is on several "+
				"shards, these commands ask each of them first and write in a transaction: they get slower.", facts...))
	}
	return out
}

// foundWithout returns the first set of fields by which the program finds single rows
// that lacks a field of the key; nil if all have the whole key. known is false if the
// profile does not say how rows are found.
func (d *draftBuilder) foundWithout(c *topology.Collection, next shardkey.Pattern) (fields []string, known bool) {
	if d.s.Profile == nil || !slices.Contains(d.s.Profile.Match(d.s.Table), c.NS.Database()) {
		return nil, false
	}
	coll, ok := d.s.Profile.Collection(c.NS.Collection())
	if !ok || coll.FoundBy == nil {
		return nil, false
	}
	fields, _ = coll.FoundWithout(next)
	return fields, true
}
