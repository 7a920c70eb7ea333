// Package idplacement shows where ids of different forms go on a ranged shard key. Several machines make ids over some
// hours. The key space is cut so that every shard has as many of the ids of the first half; the second half then
// shows which shards take the inserts.
package idplacement

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"shardboard/internal/localityid"
)

// Forms are the forms of ids, in the order of the results.
func Forms() []string {
	return []string{"objectId", "uuid7", "uuid4", "localityDefault", "localitySequential"}
}

// Options say which ids are made. The same options make the same ids.
type Options struct {
	Shards   int
	Machines int
	Windows  int // of ten minutes each; half of them come before the cut
	Each     int // ids of a machine in a window
	Seed     uint64
}

// Placement is where the ids of one form went after the cut. Shares are from 0 to 1.
type Placement struct {
	Form         string
	BusiestShare float64 // of the shard that took most of all
	WindowShare  float64 // of the shard that took most of ten minutes, on average: how near ids of one time are
	Windows      [][]int // inserts by window and shard
}

// begin is the time of the first id: that of a window, so that each has as many ids.
var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Place makes ids of a form and counts where they go.
func Place(form string, o Options) Placement {
	var windows [][][16]byte
	makers := make([]func(at time.Time) [16]byte, o.Machines)
	for m := range makers {
		makers[m] = maker(form, m, rand.New(rand.NewPCG(o.Seed, uint64(m))))
	}
	for w := range o.Windows {
		var made [][16]byte
		for i := range o.Each {
			at := begin.Add(time.Duration(w)*localityid.Window + time.Duration(i)*localityid.Window/time.Duration(o.Each))
			for _, next := range makers {
				made = append(made, next(at))
			}
		}
		windows = append(windows, made)
	}
	half := o.Windows / 2
	before := slices.Concat(windows[:half]...)
	slices.SortFunc(before, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	out, sums, all := Placement{Form: form}, make([]int, o.Shards), 0
	for _, made := range windows[half:] {
		counts := make([]int, o.Shards)
		for _, id := range made {
			at, _ := slices.BinarySearchFunc(before, id, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
			shard := min(at*o.Shards/len(before), o.Shards-1)
			counts[shard]++
			sums[shard]++
		}
		all += len(made)
		out.Windows = append(out.Windows, counts)
		out.WindowShare += float64(slices.Max(counts)) / float64(len(made))
	}
	out.WindowShare /= float64(len(out.Windows))
	out.BusiestShare = float64(slices.Max(sums)) / float64(all)
	return out
}

// maker makes the ids of one machine.
func maker(form string, machine int, random *rand.Rand) func(at time.Time) [16]byte {
	if mode, ok := map[string]localityid.Mode{"localityDefault": localityid.Default,
		"localitySequential": localityid.Sequential}[form]; ok {
		now := begin
		g := localityid.NewGenerator(localityid.Options{Mode: mode, Process: uint16(random.Uint32()), MAC: uint32(machine),
			Counter: random.Uint32(), Now: func() time.Time { return now }})
		return func(at time.Time) [16]byte {
			now = at
			return g.Next()
		}
	}
	process, counter := random.Uint64(), random.Uint32()
	return func(at time.Time) (id [16]byte) {
		switch form {
		case "objectId": // 12 bytes: seconds, five random bytes of the process, a counter of three
			binary.BigEndian.PutUint64(id[4:], process<<24|uint64(counter&0xffffff))
			binary.BigEndian.PutUint32(id[:], uint32(at.Unix()))
			counter++
		default:
			binary.BigEndian.PutUint64(id[:], random.Uint64())
			binary.BigEndian.PutUint64(id[8:], random.Uint64()&(1<<62-1)|1<<63)
			id[6] = id[6]&0x0f | 0x40
			if form == "uuid7" {
				binary.BigEndian.PutUint64(id[:], uint64(at.UnixMilli())<<16|0x7000|uint64(random.Uint32()&0xfff))
			}
		}
		return id
	}
}
