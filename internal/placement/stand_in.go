package placement

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// Stored is an id that is no ObjectID, as it is stored: its BSON type and bytes. "" for an ObjectID.
type Stored string

// standInMark begins the ids that stand for ids of other types. As an ObjectID it is of the year 2106.
const standInMark = "\xff\xff"

// oneField is a shard key of one field: its encoding is the same for equal numbers of several types, as the server
// compares them.
var oneField = func() shardkey.Pattern {
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: int32(1)}})
	if err != nil {
		panic(err) // a number under a name can be marshalled
	}
	p, err := shardkey.ParsePattern(raw)
	if err != nil {
		panic(err) // {v: 1} is a shard key
	}
	return p
}()

// IDOf is the id by which a stored id is known in the program, in addresses and in what is kept: an ObjectID, or its
// 24 digits as text, by itself; a text, number, UUID or date by a stand-in of 12 bytes made of a hash, which is the
// same in every process. Ids of 12 bytes keep what Yorkie's tables, answers and stored rows cost and are. false for
// what cannot be an id.
func IDOf(v bson.RawValue) (id bson.ObjectID, stored Stored, ok bool) {
	switch v.Type {
	case bson.TypeObjectID:
		id, ok = v.ObjectIDOK()
		return id, "", ok
	case bson.TypeString:
		if s, ok := v.StringValueOK(); ok && len(s) == 2*len(id) {
			if id, err := bson.ObjectIDFromHex(s); err == nil {
				return id, StoredOf(v), true
			}
		}
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128, bson.TypeBinary, bson.TypeDateTime, bson.TypeSymbol,
		bson.TypeEmbeddedDocument, bson.TypeBoolean:
	default:
		return id, "", false
	}
	key, err := oneField.KeyOf(v)
	if err != nil {
		return id, "", false
	}
	sum := sha256.Sum256([]byte(key.Encoded()))
	copy(id[copy(id[:], standInMark):], sum[:])
	return id, StoredOf(v), true
}

// StoredOf is a value as it is stored, of any type and of ObjectID too; "" for one that is missing.
func StoredOf(v bson.RawValue) Stored {
	if v.Type == 0 {
		return ""
	}
	return Stored(append([]byte{byte(v.Type)}, v.Value...))
}

// IsStandIn reports whether an id stands for one of another type: where only the id is known, nothing can be said of
// its place in a key space.
func IsStandIn(id bson.ObjectID) bool { return string(id[:len(standInMark)]) == standInMark }

// StoredIDs are ids of other types than ObjectID by those that stand for them. The zero value has none.
type StoredIDs map[bson.ObjectID]Stored

// With adds what is stored for an id, unless that is the ObjectID itself.
func (m StoredIDs) With(id bson.ObjectID, stored Stored) StoredIDs {
	if stored == "" {
		return m
	}
	if m == nil {
		m = StoredIDs{}
	}
	m[id] = stored
	return m
}

// Value is the stored id; false for one that stands for an id which is not in the list.
func (m StoredIDs) Value(id bson.ObjectID) (bson.RawValue, bool) {
	stored, ok := m[id]
	return stored.Value(id), ok || !IsStandIn(id)
}

// Text is the stored id as people write it; that of an id which is not in the list is its 24 digits.
func (m StoredIDs) Text(id bson.ObjectID) string { return m[id].Text(id) }

// Value is the stored id; id is what IDOf made of it.
func (s Stored) Value(id bson.ObjectID) bson.RawValue {
	if s == "" {
		return ObjectIDValue(id)
	}
	return bson.RawValue{Type: bson.Type(s[0]), Value: []byte(s[1:])}
}

// Text is the stored id as people write it.
func (s Stored) Text(id bson.ObjectID) string {
	if s == "" {
		return id.Hex()
	}
	v := s.Value(id)
	if text, ok := v.StringValueOK(); ok {
		return text
	}
	if kind, data, ok := v.BinaryOK(); ok && kind == bson.TypeBinaryUUID && len(data) == 16 {
		h := hex.EncodeToString(data)
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	}
	if f, ok := v.DoubleOK(); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return shardkey.PlainValue(v)
}

// IDValue is the id as it is stored.
func (p Project) IDValue() bson.RawValue { return p.Stored.Value(p.ID) }

// IDText is the id as people write it.
func (p Project) IDText() string { return p.Stored.Text(p.ID) }

// Value is the id of a project as it is stored; an ObjectID for one that is not in the list.
func (d *Directory) Value(db string, id bson.ObjectID) bson.RawValue {
	p, ok := d.In(db, id)
	if !ok {
		return ObjectIDValue(id)
	}
	return p.IDValue()
}

func (d *Directory) stored(db string, id bson.ObjectID) Stored {
	p, _ := d.In(db, id)
	return p.Stored
}

// idRow is a document's row as far as its place needs; project is the stored id of its project.
func (r DocumentRow) idRow(project Stored) IDRow {
	return IDRow{ID: r.ID, StoredID: r.Stored, Project: r.Project, StoredProject: project, Key: r.Key, StoredKey: r.StoredKey}
}
