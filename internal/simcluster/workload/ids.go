package workload

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// idMaker generates ObjectIDs like one process: seconds, five fixed random bytes, and a
// counter.
type idMaker struct {
	process [5]byte
	counter uint32
}

func newIDMaker(r *rand.Rand) *idMaker {
	m := &idMaker{counter: r.Uint32() & 0xffffff}
	for i := range m.process {
		m.process[i] = byte(r.Uint32())
	}
	return m
}

func (m *idMaker) at(t time.Time) bson.ObjectID {
	var id bson.ObjectID
	binary.BigEndian.PutUint32(id[0:4], uint32(t.Unix()))
	copy(id[4:9], m.process[:])
	m.counter = (m.counter + 1) & 0xffffff
	id[9], id[10], id[11] = byte(m.counter>>16), byte(m.counter>>8), byte(m.counter)
	return id
}

// idTime is when an id was made.
func idTime(id bson.ObjectID) time.Time { return id.Timestamp() }

const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// shortuuid is a 22-character key, as Yorkie's public and secret keys are.
func shortuuid(r *rand.Rand) string {
	b := make([]byte, 22)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

// between is a time drawn evenly from [a, b), in milliseconds as BSON keeps them.
func between(r *rand.Rand, a, b time.Time) time.Time {
	d := b.Sub(a).Milliseconds()
	if d <= 0 {
		return a
	}
	return a.Add(time.Duration(r.Int64N(d)) * time.Millisecond)
}

// payload is size bytes in place of an encoded operation, cheap to generate and
// different each time.
func payload(r *rand.Rand, size int) []byte {
	b := make([]byte, size)
	var x uint64
	for i := range b {
		if i%8 == 0 {
			x = r.Uint64()
		}
		b[i] = byte(x)
		x >>= 8
	}
	return b
}

// versionVector encodes one lamport per actor: a count, then 12 id bytes and a
// lamport each.
func versionVector(actors []bson.ObjectID, lamport int64) bson.Binary {
	b := make([]byte, 8, 8+20*len(actors))
	binary.BigEndian.PutUint64(b, uint64(len(actors)))
	for i, a := range actors {
		b = append(b, a[:]...)
		b = binary.BigEndian.AppendUint64(b, uint64(max(lamport-int64(i), 1)))
	}
	return bson.Binary{Data: b}
}
