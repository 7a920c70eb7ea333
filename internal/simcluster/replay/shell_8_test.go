package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster"
)

// data are the answers that depend on the documents.
var data = map[int]string{
	102: "where a chunk can be split",
	108: "whether the collection is balanced",
	164: "how many values a key has",
}

// What mongosh 2 sends for the helpers of 8.0 was recorded on a cluster with demo data. Here each command is refused
// with the same words or answered with the same fields, and rows have no fields that were not recorded.
func TestShellHelpersOf8GetTheRecordedFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlayer(t, "8.0/mongosh", simcluster.Options{ServerVersion: "8.0.10", Reshard: time.Second})
		defer p.close()
		p.cluster.Start(t.Context())
		agreed, compared := 0, 0
		list := recording(t, p.file)
		for _, s := range list {
			reply := p.run(s.DB, p.request(s))
			want, _ := s.answer()
			if data[s.N] != "" || want == nil { // nil: the recording was cut
				continue
			}
			compared++
			p.pairByName(want, reply)
			if why := differentFields(want, without(reply, "$clusterTime", "operationTime")); why != "" {
				t.Errorf("%d %s: %s", s.N, truncate(s.Cmd.String()), why)
				continue
			}
			agreed++
		}
		if agreed != compared || compared < len(list)-len(data)-3 {
			t.Errorf("%d of %d compared commands agree, of %d", agreed, compared, len(list))
		}
	})
}

// pairByName pairs the uuids of collections of the same name.
func (p *player) pairByName(want, got bson.Raw) {
	ours := make(map[string]bson.RawValue)
	for _, row := range batch(got) {
		if ns, ok := row.Lookup("_id").StringValueOK(); ok {
			ours[ns] = row.Lookup("uuid")
		}
	}
	for _, row := range batch(want) {
		ns, _ := row.Lookup("_id").StringValueOK()
		if uuid := row.Lookup("uuid"); uuid.Type == bson.TypeBinary && ours[ns].Type == bson.TypeBinary {
			_ = p.pairs.pair(uuid, ours[ns])
		}
	}
}

func batch(reply bson.Raw) (rows []bson.Raw) {
	list, ok := reply.Lookup("cursor", "firstBatch").ArrayOK()
	if !ok {
		return nil
	}
	values, _ := list.Values()
	for _, v := range values {
		if d, ok := v.DocumentOK(); ok {
			rows = append(rows, d)
		}
	}
	return rows
}

// differentFields says how the fields of two replies differ; "" if they do not.
func differentFields(want, got bson.Raw) string {
	for _, k := range []string{"code", "codeName", "errmsg"} {
		w, g := want.Lookup(k), got.Lookup(k)
		if madeUp.ReplaceAllString(w.String(), "*") != madeUp.ReplaceAllString(g.String(), "*") {
			return fmt.Sprintf("%s is %s, recorded %s", k, g, w)
		}
	}
	if rows := batch(want); want.Lookup("cursor").Type != 0 {
		if w, g := want.Lookup("cursor", "ns").String(), got.Lookup("cursor", "ns").String(); w != g {
			return "cursor of " + g + ", recorded " + w
		}
		known := make(map[string]bool)
		for _, row := range rows {
			maps.Copy(known, fieldsOf("", row))
		}
		for _, row := range batch(got) {
			for f := range fieldsOf("", row) {
				if !known[f] && len(rows) > 0 {
					return "a row has " + f
				}
			}
		}
		return ""
	}
	w, g := slices.Sorted(maps.Keys(fieldsOf("", want))), slices.Sorted(maps.Keys(fieldsOf("", got)))
	if !slices.Equal(w, g) {
		return fmt.Sprintf("has %s, recorded %s", strings.Join(g, ", "), strings.Join(w, ", "))
	}
	return ""
}

// fieldsOf are the paths of a document's fields, without those below an array.
func fieldsOf(path string, d bson.Raw) map[string]bool {
	out := make(map[string]bool)
	list, _ := d.Elements()
	for _, e := range list {
		at := path + e.Key()
		if out[at] = true; e.Key() == "buildEnvironment" {
			continue // the recording left it out
		}
		if inner, ok := e.Value().DocumentOK(); ok {
			maps.Copy(out, fieldsOf(at+".", inner))
		}
	}
	return out
}
