package placement

import (
	"encoding/json"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/placement/ids"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// byShardKey places a value in a picked collection. Key is Extended JSON; text
// is a value as people write it, for the first field of the shard key.
func (l *Locator) byShardKey(t *topology.Table, q Query, text string) (Answer, error) {
	a := Answer{Input: Input{Readings: []Reading{{Form: FormShardKey}}}}
	if text == "" && plainKey(q.Key) {
		text, q.Key = strings.TrimSpace(q.Key), ""
	}
	if q.Key != "" && text != "" {
		return a, fault.New(fault.Invalid, "Give the shard-key value once: as q= or as key=.")
	}
	if q.Key != "" || text == "" {
		items, err := locateKey(t, q)
		if err == nil {
			err = l.checkKeyTypes(t, q)
		}
		if err != nil {
			return a, err
		}
		a.Items = items
		return a, nil
	}
	c := t.Collection(q.NS)
	name := "_id" // of an unsharded collection only the primary shard matters
	if c != nil && c.Key.Len() > 0 {
		name = c.Key.Fields()[0].Name
	}
	var first error
	for _, value := range l.values(&a, text) {
		key, err := json.Marshal(map[string]json.RawMessage{name: value})
		if err != nil {
			return a, fault.Wrap(fault.Invalid, err, "This is not a shard-key value.")
		}
		one := Query{NS: q.NS, Key: string(key)}
		items, err := locateKey(t, one)
		if err == nil {
			err = l.checkKeyTypes(t, one)
		}
		if err != nil && first == nil {
			first = err
		}
		if err == nil {
			a.Items = append(a.Items, items...)
		}
	}
	if len(a.Items) > 0 {
		first = nil
	}
	return a, first
}

// plainKey tells that a key is an id, a number or a date as people write it, not Extended JSON.
func plainKey(key string) bool {
	key = strings.TrimSpace(key)
	if key == "" || key[0] == '{' || key[0] == '"' {
		return false
	}
	_, uuid := ids.ParseUUID(key)
	_, oid := objectID(key)
	_, value := ReadValue(key)
	return uuid || oid || value && !json.Valid([]byte(key))
}

// values are the Extended JSON values that a text can be: a UUID may be stored
// as binary data or as text, and these are at different places.
func (l *Locator) values(a *Answer, text string) []json.RawMessage {
	asText, err := json.Marshal(text)
	if err != nil {
		return nil // cannot happen: a string is JSON
	}
	if u, ok := ids.ParseUUID(text); ok {
		a.Input.Readings[0].UUID = u
		a.takeApart()
		return []json.RawMessage{json.RawMessage(`{"$uuid":"` + u.String() + `"}`), json.RawMessage(asText)}
	}
	if id, ok := objectID(text); ok {
		a.Input.Readings[0].ID = id
		a.takeApart()
		return []json.RawMessage{json.RawMessage(`{"$oid":"` + id.Hex() + `"}`)}
	}
	if _, err := shardkey.ParseExtJSON(`{"v":` + text + `}`); err == nil && json.Valid([]byte(text)) {
		return []json.RawMessage{json.RawMessage(text)}
	}
	if v, ok := ReadValue(text); ok {
		return []json.RawMessage{json.RawMessage(v.JSON), json.RawMessage(asText)}
	}
	return []json.RawMessage{json.RawMessage(asText)}
}

// checkKeyTypes refuses a value of another type than the collection's ids
// have. Such a value has a place in the key space too, but never the one that
// is meant: 24 digits as text are far from the ObjectID of the same digits.
func (l *Locator) checkKeyTypes(t *topology.Table, q Query) error {
	c := t.Collection(q.NS)
	if c == nil || l.profile == nil || l.profile.Name != "yorkie" || !slices.Contains(l.dirs.Directory().Databases(), q.NS.Database()) {
		return nil
	}
	pc, ok := l.profile.Collection(q.NS.Collection())
	if !ok {
		return nil
	}
	got, err := readKey(c.Meta, q.Key)
	if err != nil {
		return err
	}
	for i, v := range got.values {
		name := c.Key.Fields()[i].Name
		if name != pc.ProjectField && name != pc.DocumentField && name != "_id" {
			continue
		}
		if v.Type != bson.TypeObjectID && v.Type != bson.TypeMinKey && v.Type != bson.TypeMaxKey {
			return fault.New(
				fault.Invalid,
				"%s of %s is an ObjectID, and this value is of type %s: write {%q: {\"$oid\": \"24 hexadecimal digits\"}}.",
				name,
				string(q.NS),
				v.Type,
				name,
			)
		}
	}
	return nil
}
