package keys

import (
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/localityid"
	"shardboard/internal/shardkey"
)

// Inserts are new rows whose shards are looked at, for each kind of id. As many rows came before them, in as much time,
// and were resharded; then nothing moves. The same inserts make the same ids.
type Inserts struct {
	Rows   int
	Shards int
	Span   time.Duration
	Seed   uint64
}

// Limits of inserts.
const (
	MostInserts = 100_000
	MostSpan    = 10 * 365 * 24 * time.Hour
	timeSlices  = 48 // of the picture
)

// Check refuses inserts: one sentence, with the field and its limit.
func (n Inserts) Check() error {
	switch {
	case n.Rows < 1 || n.Rows > MostInserts:
		return fmt.Errorf("inserts: there are %d, expected 1 to %d", n.Rows, MostInserts)
	case n.Shards < 1 || n.Shards > MostShards:
		return fmt.Errorf("shards: there are %d, expected 1 to %d", n.Shards, MostShards)
	case n.Span <= 0 || n.Span > MostSpan:
		return fmt.Errorf("span: it is %s, expected more than 0 and at most ten years", n.Span)
	}
	return nil
}

// Landing is where the new rows go with one kind of id.
type Landing struct {
	Field   string    // _id for ObjectIDs, or one of the extra fields
	Parts   []float64 // share of the rows by shard
	Busiest float64   // share of the shard with most, over the whole time
	AtATime float64   // share of the shard with most in each ten minutes, averaged over the rows
	Slices  [][]int   // rows by part of the time and shard
}

// Land works out where the rows go with ObjectIDs, UUIDs of version 4 and 7 and locality UUIDs.
func (n Inserts) Land() ([]Landing, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	fields := []string{UUID4, UUID7, LocalityDefault, LocalitySequential}
	m := Model{Collection: "clients", Seed: n.Seed, Projects: 1, Rows: 2 * n.Rows, RowBytes: 1, Span: 2 * n.Span,
		Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Extra: Extra{Fields: fields, Seed: n.Seed}}
	s, err := m.Sample()
	if err != nil {
		return nil, err
	}
	var out []Landing
	var room sorter
	for _, field := range append([]string{"_id"}, fields...) {
		raw, err := bson.Marshal(bson.D{{Key: field, Value: int32(1)}})
		if err != nil {
			return nil, err
		}
		key, err := shardkey.ParsePattern(raw)
		if err != nil {
			return nil, err
		}
		if err := room.read(s, key); err != nil {
			return nil, err
		}
		out = append(out, n.land(field, &m, &room))
	}
	return out, nil
}

func (n Inserts) land(field string, m *Model, sorted *sorter) Landing {
	out := Landing{Field: field, Parts: make([]float64, n.Shards), Slices: make([][]int, min(timeSlices, n.Rows))}
	for i := range out.Slices {
		out.Slices[i] = make([]int, n.Shards)
	}
	rows, windows := make([]int, n.Shards), map[int64][]int{} // rows by shard
	pieces, piece := sorted.pieces(n.Rows), 0
	for at, p := range sorted.order {
		for piece+1 < len(pieces) && at >= pieces[piece+1] {
			piece++
		}
		row := int(p.row) - n.Rows
		if row < 0 {
			continue
		}
		shard := piece % n.Shards
		rows[shard]++
		out.Slices[row*len(out.Slices)/n.Rows][shard]++
		window := m.at(int(p.row), m.Rows).UnixMilli() / localityid.Window.Milliseconds()
		if windows[window] == nil {
			windows[window] = make([]int, n.Shards)
		}
		windows[window][shard]++
	}
	for i, n := range rows {
		out.Parts[i] = float64(n) / float64(m.Rows/2)
	}
	out.Busiest = slices.Max(out.Parts)
	together := 0
	for _, byShard := range windows {
		together += slices.Max(byShard)
	}
	out.AtATime = float64(together) / float64(n.Rows)
	return out
}
