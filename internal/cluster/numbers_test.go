package cluster

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// Every number of a server passes one door.
func TestNumbersOfServersPassOneDoor(t *testing.T) {
	files := must.Get(filepath.Glob("*.go"))
	for _, name := range files {
		text := must.Get(os.ReadFile(name))
		if name != "numbers.go" && !strings.HasSuffix(name, "_test.go") && strings.Contains(string(text), "AsInt64OK") {
			t.Errorf("%s reads a number without amount, float or duration", name)
		}
	}
}

// What cannot be an amount is not known, with the reason, and no other figure is lost for it.
func TestNumbersOutOfTheirRangeAreNotKnown(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	bad := []any{int32(-1), int64(-20), int64(math.MinInt64), int64(math.MaxInt64), math.NaN(), math.Inf(1), math.Inf(-1), -0.5, 1e300}
	names := []string{"size", "count", "avgObjSize", "storageSize", "totalIndexSize", "numOrphanDocs"}
	for _, v := range bad {
		for _, of := range names {
			var stats bson.D
			for _, name := range names {
				stats = append(stats, bson.E{Key: name, Value: int64(10)})
				if name == of {
					stats[len(stats)-1].Value = v
				}
			}
			raw := must.Get(bson.Marshal(stats))
			s := decodeStats(raw, at)
			known := 0
			for _, f := range []topology.Figure{s.Bytes, s.Documents, s.Orphans, s.Storage, s.Indexes} {
				switch {
				case f.Known && (f.Value < 0 || f.Value > 10), !f.Known && f.Reason != "outOfRange":
					t.Errorf("%s %v: %+v", of, v, s)
				case f.Known:
					known++
				}
			}
			if known != 4 {
				t.Errorf("%s %v: %d figures are known, expected 4", of, v, known)
			}
		}
		owned := must.Get(bson.Marshal(bson.D{{Key: "shardName", Value: "a"}, {Key: "numOwnedDocuments", Value: v},
			{Key: "ownedSizeBytes", Value: 7}}))
		_, s := decodeOwned(owned, at)
		if s.Documents.Known || s.Documents.Exact || s.Documents.Reason != "outOfRange" || s.Bytes.Value != 7 {
			t.Errorf("%v: %+v", v, s)
		}
		raw := must.Get(bson.Marshal(bson.D{{Key: "v", Value: v}}))
		if d, ok := duration(bson.Raw(raw).Lookup("v"), time.Second); ok {
			t.Errorf("%v lasts %v", v, d)
		}
	}
	for v, want := range map[any]string{int32(3): "3", 3.9: "3", int64(1) << 52: "4503599627370496"} {
		raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
		if n, ok := topology.Amount(bson.Raw(raw).Lookup("v")); err != nil || !ok || fmt.Sprint(n) != want {
			t.Errorf("%v: %d %t %v", v, n, ok, err)
		}
	}
}
