package survey

import (
	"encoding/base64"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
)

// Position is where reading in _id order goes on; the zero Position is the beginning. Comparisons in a query match
// values of one type only, so what follows the last id of a type is a position of its own.
type Position struct {
	ID        bson.RawValue // from this id on
	NextTypes bool          // from the types on that come after that of ID
}

// MarshalText writes an ObjectID by its digits alone, as earlier releases did.
func (p Position) MarshalText() ([]byte, error) {
	if id, ok := p.ID.ObjectIDOK(); ok && !p.NextTypes || p.ID.Type == 0 {
		return []byte(id.Hex()), nil
	}
	mark := "="
	if p.NextTypes {
		mark = ">"
	}
	return []byte(mark + base64.RawURLEncoding.EncodeToString(append([]byte{byte(p.ID.Type)}, p.ID.Value...))), nil
}

// UnmarshalText reads what MarshalText writes.
func (p *Position) UnmarshalText(text []byte) error {
	*p = Position{}
	if data, ok := strings.CutPrefix(string(text), ">"); ok {
		p.NextTypes = true
		return p.read(data)
	}
	if data, ok := strings.CutPrefix(string(text), "="); ok {
		return p.read(data)
	}
	id, err := bson.ObjectIDFromHex(string(text))
	if err == nil && !id.IsZero() {
		p.ID = placement.ObjectIDValue(id)
	}
	return err
}

func (p *Position) read(data string) error {
	raw, err := base64.RawURLEncoding.DecodeString(data)
	if err != nil || len(raw) == 0 {
		return fmt.Errorf("read a position: %q", data)
	}
	p.ID = bson.RawValue{Type: bson.Type(raw[0]), Value: raw[1:]}
	return nil
}

// values are stored ids by the ids that stand for them; those of ObjectIDs are not in it. Stored as JSON.
type values map[bson.ObjectID][]byte

func (v values) of(id bson.ObjectID) bson.RawValue { return placement.Stored(v[id]).Value(id) }

// add adds a stored id unless it is an ObjectID, and returns the id that stands for it.
func (v *values) add(stored bson.RawValue) (id bson.ObjectID, ok bool) {
	id, s, ok := placement.IDOf(stored)
	if ok && s != "" {
		if *v == nil {
			*v = values{}
		}
		(*v)[id] = []byte(s)
	}
	return id, ok
}
