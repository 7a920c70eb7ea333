package replay

import (
	"cmp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// releases are the recorded releases that have a folder of their own, with the server's
// whole version; the recordings of 5.0.7 are beside the folders.
var releases = map[string]string{"8.0/": "8.0.10"}

// releaseOf is the server version of a recording, "" for 5.0.7.
func releaseOf(file string) string {
	folder, _, inside := strings.Cut(file, "/")
	if !inside {
		return ""
	}
	return releases[folder+"/"]
}

// previous names the recording that was made before on the same cluster: zones of it are
// still there.
var previous = map[string]string{
	"8.0/walk-2": "8.0/walk-1", "8.0/walk-3": "8.0/walk-2",
}

// restoreZones repeats what the previous recording left: shards in zones, and ranges of
// collections that never were.
func (p *player) restoreZones() {
	p.t.Helper()
	before := previous[p.file]
	if before == "" {
		return
	}
	for _, row := range lastDump(recording(p.t, before), "config.shards") {
		tags, _ := row.Lookup("tags").ArrayOK()
		values, _ := tags.Values()
		for _, tag := range values {
			p.mustRun("admin", bson.D{{Key: "addShardToZone", Value: row.Lookup("_id")}, {Key: "zone", Value: tag}})
		}
		if _, err := row.LookupErr("tags"); err == nil && len(values) == 0 {
			p.mustRun("admin", bson.D{{Key: "addShardToZone", Value: row.Lookup("_id")}, {Key: "zone", Value: "none"}})
			p.mustRun("admin", bson.D{{Key: "removeShardFromZone", Value: row.Lookup("_id")}, {Key: "zone", Value: "none"}})
		}
	}
	last := 0
	for _, s := range recording(p.t, before) {
		if s.Kind == "dump" && s.DB == "config.shards" {
			last = s.N
		}
	}
	for _, s := range recording(p.t, before) {
		if name := s.name(); s.N > last && (name == "addShardToZone" || name == "removeShardFromZone") {
			p.mustRun(s.DB, p.request(s))
		}
	}
	for _, row := range lastDump(recording(p.t, before), "config.tags") {
		p.mustRun("admin", bson.D{{Key: "updateZoneKeyRange", Value: row.Lookup("ns")}, {Key: "min", Value: row.Lookup("min")},
			{Key: "max", Value: row.Lookup("max")}, {Key: "zone", Value: row.Lookup("tag")}})
	}
}

func lastDump(steps []step, of string) (rows []bson.Raw) {
	for _, s := range steps {
		if s.Kind == "dump" && s.DB == of {
			rows = s.documents()
		}
	}
	return rows
}

// documents are the rows of a dump.
func (s step) documents() (rows []bson.Raw) {
	values, _ := s.Reply.Array().Values()
	for _, v := range values {
		rows = append(rows, v.Document())
	}
	return rows
}

// placeAsRecorded makes the first chunks of a hashed collection go where they went on the
// recorded 8.0, which draws the order of the shards.
func (p *player) placeAsRecorded(s step) {
	if s.name() != "shardCollection" {
		return
	}
	key, _ := s.Cmd.Lookup("key").DocumentOK()
	first, err := key.IndexErr(0)
	if err != nil || first.Value().Type != bson.TypeString {
		return
	}
	ns := s.Cmd.Lookup("shardCollection").StringValue()
	if order := p.recordedPlaces(s.N, ns, first.Key()); len(order) == 3 {
		p.cluster.Catalog().PlaceNext(ns, order)
	}
}

// recordedPlaces are the shards of the first three chunks, as far as the oldest entries of
// the histories show them in a later dump.
func (p *player) recordedPlaces(after int, ns, field string) []string {
	var uuid bson.RawValue
	var at bson.RawValue
	first := make(map[int]string)
	for _, s := range recording(p.t, p.file) {
		if s.N <= after || s.Kind != "dump" {
			continue
		}
		for _, row := range s.documents() {
			switch {
			case s.DB == "config.collections" && uuid.Type == 0 && row.Lookup("_id").StringValue() == ns:
				uuid, at = row.Lookup("uuid"), row.Lookup("timestamp")
			case s.DB == "config.chunks" && uuid.Type != 0 && row.Lookup("uuid").Equal(uuid):
				history, _ := row.Lookup("history").Array().Values()
				oldest := history[len(history)-1].Document()
				if !oldest.Lookup("validAfter").Equal(at) {
					continue
				}
				if part := thirdOf(row.Lookup("min", field)); first[part] == "" {
					first[part] = oldest.Lookup("shard").StringValue()
				}
			}
		}
		if len(first) == 3 {
			break
		}
	}
	all := []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}
	for part := range 3 {
		if first[part] != "" || len(first) != 2 {
			continue
		}
		for _, shard := range all {
			if shard != first[0] && shard != first[1] && shard != first[2] {
				first[part] = shard
			}
		}
	}
	var order []string
	for part := range 3 {
		if first[part] != "" {
			order = append(order, first[part])
		}
	}
	return order
}

// thirdOf is the third of the hashes that a bound is in.
func thirdOf(v bson.RawValue) int {
	const third = 3074457345618258602
	h, ok := v.Int64OK()
	switch {
	case !ok || cmp.Less(h, -third):
		return 0
	case h < third:
		return 1
	}
	return 2
}
