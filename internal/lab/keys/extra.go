package keys

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/localityid"
)

// Fields that rows do not have and programs could write, so that a key is made of them.
const (
	Coarse             = "coarse_time"     // the beginning of the month, or of another unit, in which the row was inserted
	LocalityDefault    = "locality_id"     // a locality UUID of the default mode
	LocalitySequential = "locality_id_seq" // a locality UUID of the sequential mode
	UUID4              = "uuid_v4"
	UUID7              = "uuid_v7"
)

// ExtraFields are the fields that rows do not have.
func ExtraFields() []string {
	return []string{Coarse, LocalityDefault, LocalitySequential, UUID4, UUID7}
}

// Unit is a unit of coarse time.
type Unit string

// The units.
const (
	Hour  Unit = "hour"
	Day   Unit = "day"
	Month Unit = "month"
	Year  Unit = "year"
)

// enoughChunks is how many chunks a unit of coarse time should have, so that the second field spreads it.
const enoughChunks = 90

// UnitFor is the shortest unit in which so many chunks come together that they spread over the shards, for rows of so
// many bytes in so much time: a month for 30 GB a month, a year for 1 GB, a day for 500 GB, by the published advice.
func UnitFor(bytes int64, span time.Duration, chunkSize int64) Unit {
	for _, u := range []struct {
		unit Unit
		long time.Duration
	}{{Hour, time.Hour}, {Day, 24 * time.Hour}, {Month, 30 * 24 * time.Hour}} {
		if span > 0 && float64(bytes)*(float64(u.long)/float64(span)) >= enoughChunks*float64(chunkSize) {
			return u.unit
		}
	}
	return Year
}

// Of is the beginning of the unit that a time is in, in UTC.
func (u Unit) Of(at time.Time) time.Time {
	at = at.UTC()
	switch u {
	case Hour:
		return at.Truncate(time.Hour)
	case Day:
		return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	case Month:
		return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(at.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
}

// writers is how many processes insert rows.
const writers = 4

// Extra makes the fields that rows do not have. The zero value makes none. Rows have to come in the order of time.
type Extra struct {
	Fields []string // which are made
	Unit   Unit     // of Coarse
	Seed   uint64

	rnd   *rand.Rand
	bytes *rand.ChaCha8
	now   time.Time
	ids   map[string][]*localityid.Generator
}

// Check refuses what cannot be made.
func (e *Extra) Check() error {
	for _, f := range e.Fields {
		if !slices.Contains(ExtraFields(), f) {
			return fmt.Errorf("fields: %q is not a field that can be added", f)
		}
	}
	if slices.Contains(e.Fields, Coarse) && !slices.Contains([]Unit{Hour, Day, Month, Year}, e.Unit) {
		return fmt.Errorf("unit: it is %q, expected hour, day, month or year", e.Unit)
	}
	return nil
}

// Of are the fields of the next row, which is inserted at a time.
func (e *Extra) Of(at time.Time) bson.D {
	if len(e.Fields) == 0 {
		return nil
	}
	if e.rnd == nil {
		var seed [32]byte
		binary.BigEndian.PutUint64(seed[:], e.Seed)
		e.rnd, e.bytes = rand.New(rand.NewPCG(e.Seed, 2)), rand.NewChaCha8(seed)
		e.ids = map[string][]*localityid.Generator{}
	}
	e.now = at
	writer := e.rnd.IntN(writers)
	out := make(bson.D, 0, len(e.Fields))
	for _, f := range e.Fields {
		var v any
		switch f {
		case Coarse:
			v = bson.NewDateTimeFromTime(e.Unit.Of(at))
		case LocalityDefault, LocalitySequential:
			id := e.generators(f)[writer].Next()
			v = bson.Binary{Subtype: 4, Data: id[:]}
		case UUID4, UUID7:
			var id [16]byte
			_, _ = e.bytes.Read(id[:]) // never fails
			id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
			if f == UUID7 {
				var ms [8]byte
				binary.BigEndian.PutUint64(ms[:], uint64(at.UnixMilli()))
				copy(id[:6], ms[2:])
				id[6] = id[6]&0x0f | 0x70
			}
			v = bson.Binary{Subtype: 4, Data: id[:]}
		}
		out = append(out, bson.E{Key: f, Value: v})
	}
	return out
}

// generators are those of a field, one for each writer.
func (e *Extra) generators(field string) []*localityid.Generator {
	if e.ids[field] == nil {
		for range writers {
			o := localityid.Options{Process: uint16(e.rnd.IntN(1 << 16)), MAC: e.rnd.Uint32() & localityid.MaxMAC, Counter: e.rnd.Uint32(),
				Now: func() time.Time { return e.now }}
			if field == LocalitySequential {
				o.Mode = localityid.Sequential
			}
			e.ids[field] = append(e.ids[field], localityid.NewGenerator(o))
		}
	}
	return e.ids[field]
}
