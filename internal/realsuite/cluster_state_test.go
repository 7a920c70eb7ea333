package realsuite_test

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// state is what changes can change, as the config server has it, as lines of text.
func (w *world) state(db string) string {
	w.Helper()
	var lines []string
	add := func(format string, a ...any) { lines = append(lines, fmt.Sprintf(format, a...)) }
	var home struct{ Primary string }
	w.must(w.config("databases").FindOne(w.Context(), bson.D{{Key: "_id", Value: db}}).Decode(&home))
	add("primary %s", home.Primary)
	for _, c := range w.shardedOf(db) {
		key, _ := bson.MarshalExtJSON(c.Key, false, false)
		add("%s key %s balanced %v migrations %v merging %v chunks of %d defragmented %v", c.ID, key, !c.NoBalance,
			isOn(c.AllowMigrations) && isOn(c.PermitMigrations), isOn(c.EnableAutoMerge), c.MaxChunkSizeBytes, c.DefragmentCollection)
		for _, ch := range w.chunks(c.ID) {
			add("%s %s on %s jumbo %v", c.ID, ch.Min, ch.Shard, ch.Jumbo)
		}
	}
	for _, z := range documents[zoneRange](w, "tags", bson.D{{Key: "ns", Value: bson.Regex{Pattern: "^" + db + `\.`}}}) {
		add("%s %s to %s in zone %s", z.NS, z.Min, z.Max, z.Tag)
	}
	for _, s := range documents[shardEntry](w, "shards", bson.D{}) {
		slices.Sort(s.Tags)
		add("shard %s zones %v draining %v", s.ID, s.Tags, s.Draining)
	}
	for _, s := range documents[struct {
		Stopped      bool
		Mode         string
		ActiveWindow bson.Raw `bson:"activeWindow"`
	}](w, "settings", bson.D{{Key: "_id", Value: "balancer"}}) {
		add("balancer off %v window %s", s.Stopped || s.Mode == "off", s.ActiveWindow)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// zoneRange is what the tests look at of a document of config.tags.
type zoneRange struct {
	NS, Tag  string
	Min, Max bson.Raw
}

// shardEntry is what the tests look at of a document of config.shards.
type shardEntry struct {
	ID       string `bson:"_id"`
	Tags     []string
	Draining bool
}

func (w *world) removeRange(z zoneRange) {
	w.Helper()
	w.admin(bson.D{{Key: "updateZoneKeyRange", Value: z.NS}, {Key: "min", Value: z.Min}, {Key: "max", Value: z.Max},
		{Key: "zone", Value: nil}})
}

// isOn reads a setting that is on while it is not there.
func isOn(setting *bool) bool { return setting == nil || *setting }

// linesWith keeps the lines that begin with a text.
func linesWith(text, begin string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, begin) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// documents reads documents of a config collection.
func documents[T any](w *world, name string, filter bson.D) (all []T) {
	w.Helper()
	cursor, err := w.config(name).Find(w.Context(), filter)
	w.must(err)
	w.must(cursor.All(w.Context(), &all))
	return all
}

// differences are the lines that are in one text only.
func differences(before, after string) string {
	b, a := strings.Split(before, "\n"), strings.Split(after, "\n")
	var out []string
	for _, l := range b {
		if !slices.Contains(a, l) {
			out = append(out, "- "+l)
		}
	}
	for _, l := range a {
		if !slices.Contains(b, l) {
			out = append(out, "+ "+l)
		}
	}
	return strings.Join(out, "\n")
}
