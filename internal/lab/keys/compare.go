package keys

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"shardboard/internal/shardkey"
)

// Compare works out each candidate's report over the same rows. It needs time in proportion to rows × candidates,
// and about 60 bytes for each row beside the sample. A key that the rows refuse has its reason in its report.
func Compare(s *Sample, c *Cluster, candidates []Candidate) ([]Report, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	var room sorter
	out := make([]Report, len(candidates))
	for i, k := range candidates {
		out[i] = Report{Candidate: k}
		if out[i].Name == "" {
			out[i].Name = k.Key.String()
		}
		if err := room.read(s, k.Key); err != nil {
			out[i].Err = err
			continue
		}
		out[i].measure(s, c, &room)
		out[i].Queries = route(s, c, k.Key, &room)
		out[i].Unique = carried(k.Key, c.Unique)
		out[i].Cost = costOf(s, c, k.Key, out[i].Unique)
	}
	return out, nil
}

// sorter has the rows of a sample in the order of a key. Its memory is used again for the next key.
type sorter struct {
	keys   values
	order  []place
	fields []*values // of the key
}

// place is a row; its key's first bytes decide most comparisons.
type place struct {
	head uint64
	row  uint32
}

func (r *sorter) key(row uint32) []byte { return r.keys.of(int(row)) }

// prefix is the part of a row's key that its first fields make.
func (r *sorter) prefix(row uint32, fields int) []byte {
	n := 0
	for _, f := range r.fields[:fields] {
		n += len(f.of(int(row)))
	}
	return r.key(row)[:n]
}

// read puts the keys of all rows together and sorts them. Equal keys stay in the order of insertion.
func (r *sorter) read(s *Sample, p shardkey.Pattern) (err error) {
	r.keys.bytes, r.keys.ends, r.order = r.keys.bytes[:0], r.keys.ends[:0], r.order[:0]
	if r.fields, err = s.of(p); err != nil {
		return err
	}
	size := 0
	for _, f := range r.fields {
		size += len(f.bytes)
	}
	r.keys.bytes, r.keys.ends = slices.Grow(r.keys.bytes, size), slices.Grow(r.keys.ends, s.Len())
	r.order = slices.Grow(r.order, s.Len())
	for row := range s.Len() {
		for _, f := range r.fields {
			r.keys.bytes = append(r.keys.bytes, f.of(row)...)
		}
		r.keys.ends = append(r.keys.ends, uint32(len(r.keys.bytes)))
		var head [8]byte
		copy(head[:], r.keys.of(row))
		r.order = append(r.order, place{binary.BigEndian.Uint64(head[:]), uint32(row)})
	}
	slices.SortFunc(r.order, func(a, b place) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		if n := bytes.Compare(r.key(a.row), r.key(b.row)); n != 0 {
			return n
		}
		return cmp.Compare(a.row, b.row)
	})
	return nil
}

// value is a run of rows with the same key.
type value struct {
	first, rows int // in the order of the key
	bytes       int64
}

// values calls do for each different value in order.
func (r *sorter) values(s *Sample, do func(value)) {
	for first := 0; first < len(r.order); {
		v := value{first: first}
		key := r.key(r.order[first].row)
		for n := first; n < len(r.order); n++ {
			row := r.order[n].row
			if n > first && (r.order[n].head != r.order[first].head || !bytes.Equal(r.key(row), key)) {
				break
			}
			v.rows++
			v.bytes += int64(s.sizes[row])
		}
		do(v)
		first += v.rows
	}
}
