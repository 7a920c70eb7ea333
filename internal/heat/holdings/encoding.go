package holdings

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// maxBody is the most bytes that a stored sample may have when it is unpacked.
const maxBody = 64 << 20

// stored is a sample as it is stored: compressed JSON with the columns of its rows. Do not rename
// its fields.
type stored struct {
	Life    topology.Incarnation
	Counted bool
	Shards  []string
	Batches []storedBatch
}

type storedBatch struct {
	Begun, At time.Time
	Keys      [][]byte
	Projects  []byte   // 12 bytes for each row
	Rows      []uint32 // absent: one each
	Bytes     []int64
	Shard     []int // positions in Shards
}

func encode(s *sample) ([]byte, error) {
	out := stored{Life: s.Life, Counted: s.Counted}
	index := map[string]int{}
	for _, b := range s.Batches {
		one := storedBatch{Begun: b.Begun, At: b.At}
		for _, r := range b.Rows {
			i, ok := index[r.Shard]
			if !ok {
				i = len(out.Shards)
				index[r.Shard] = i
				out.Shards = append(out.Shards, r.Shard)
			}
			one.Keys = append(one.Keys, []byte(r.Key))
			one.Projects = append(one.Projects, r.Project[:]...)
			one.Rows = append(one.Rows, r.Rows)
			one.Bytes = append(one.Bytes, r.Bytes)
			one.Shard = append(one.Shard, i)
		}
		out.Batches = append(out.Batches, one)
	}
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestSpeed) // fails for an illegal level only
	if err := json.NewEncoder(w).Encode(out); err != nil {
		return nil, fmt.Errorf("write sample: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("write sample: %w", err)
	}
	return packed.Bytes(), nil
}

func decode(body []byte) (*sample, error) {
	var in stored
	r := flate.NewReader(bytes.NewReader(body))
	if err := json.NewDecoder(io.LimitReader(r, maxBody)).Decode(&in); err != nil {
		return nil, fmt.Errorf("read sample: %w", err)
	}
	out, same := &sample{Life: in.Life, Counted: in.Counted}, interned{}
	for _, b := range in.Batches {
		n := len(b.Keys)
		if len(b.Projects) != n*len(bson.ObjectID{}) || len(b.Bytes) != n || b.Rows != nil && len(b.Rows) != n || len(b.Shard) != n {
			return nil, fmt.Errorf("read sample: columns of different lengths")
		}
		one := batch{Begun: b.Begun, At: b.At, Rows: make([]row, n)}
		for i := range n {
			if b.Shard[i] < 0 || b.Shard[i] >= len(in.Shards) || b.Bytes[i] < 0 {
				return nil, fmt.Errorf("read sample: row %d is damaged", i)
			}
			one.Rows[i] = row{Key: same.of(string(b.Keys[i])), Rows: 1, Bytes: b.Bytes[i], Shard: in.Shards[b.Shard[i]]}
			if b.Rows != nil {
				one.Rows[i].Rows = max(b.Rows[i], 1)
			}
			copy(one.Rows[i].Project[:], b.Projects[i*len(bson.ObjectID{}):])
		}
		out.Batches = append(out.Batches, one)
	}
	if len(out.Batches) == 0 || out.Counted && len(out.Batches) != 1 {
		return nil, fmt.Errorf("read sample: %d batches", len(out.Batches))
	}
	return out, nil
}
