// Package ids takes ids apart: what an ObjectID or a UUID says about when and
// where it was made, and what its form means for placement on a ranged and on
// a hashed shard key. It reads nothing and answers with codes; the words are
// the web's.
package ids

import (
	"time"
)

// Kind is the form of an id (a catalogue code).
type Kind string

// The forms that are told apart.
const (
	ObjectID     Kind = "objectId"
	UUID1        Kind = "uuid1" // time, low bits first
	UUID3        Kind = "uuid3" // MD5 of a name
	UUID4        Kind = "uuid4" // random
	UUID5        Kind = "uuid5" // SHA-1 of a name
	UUID6        Kind = "uuid6" // version 1 with the high bits first
	UUID7        Kind = "uuid7" // Unix milliseconds first
	UUID8        Kind = "uuid8" // the maker's own layout
	UUIDLocality Kind = "uuidLocality"
	UUIDNil      Kind = "uuidNil"
	UUIDMax      Kind = "uuidMax"
	UUIDOther    Kind = "uuidOther" // no known version
)

// What a form means for placement (catalogue codes).
const (
	// LastChunk: each new id is greater than all before it, so a ranged key
	// sends every insert to the chunk that ends at MaxKey, on one shard.
	LastChunk = "lastChunk"
	// Spread: neighbours in time are strangers in the key space.
	Spread = "spread"
	// Sweep: inserts walk through the whole key space again and again, one
	// chunk at a time (version 1: about 7 minutes a round).
	Sweep = "sweep"
	// Windowed: ids begin near a value that all makers share for a while, so
	// inserts of that while are in one chunk, then jump to another.
	Windowed = "windowed"
	// OneOf: steps that spread, or a shared beginning; the id cannot tell.
	OneOf = "oneOf"
	// Undecided: nothing is known of how the next id differs from this one.
	Undecided = "undecided"
	// Even: the hash of an id has nothing to do with its order.
	Even = "even"
)

// Part is one field of an id: the hexadecimal digits [From, To) of it, hyphens
// not counted. Value is plain ASCII.
type Part struct {
	Name     string // catalogue code
	Value    string
	From, To int
}

// Note is a remark with a catalogue code.
type Note struct {
	Code string
	Args map[string]string
}

// Anatomy is an id taken apart.
type Anatomy struct {
	Kind   Kind
	Text   string    // canonical: 24 hex digits, or a UUID in lower case
	Time   time.Time // when it was made, UTC; zero when the form does not say
	Parts  []Part
	Ranged string // what it means on a ranged shard key
	Hashed string // what it means on a hashed one
	Notes  []Note
}

func (a *Anatomy) part(name, value string, from, to int) {
	a.Parts = append(a.Parts, Part{Name: name, Value: value, From: from, To: to})
}

func (a *Anatomy) note(code string, args ...string) {
	n := Note{Code: code}
	for i := 0; i+1 < len(args); i += 2 {
		if n.Args == nil {
			n.Args = map[string]string{}
		}
		n.Args[args[i]] = args[i+1]
	}
	a.Notes = append(a.Notes, n)
}

// made notes the time and whether it can be meant: ids are also written by
// hand, by tests and by broken clocks. The limits are the year in which
// MongoDB began and a day of clocks that are wrong.
func (a *Anatomy) made(at, now time.Time) {
	a.Time = at.UTC()
	switch {
	case a.Time.Year() < 2007:
		a.note("timeBefore")
	case a.Time.After(now.Add(24 * time.Hour)):
		a.note("timeAhead")
	}
}
