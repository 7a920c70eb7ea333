package message

import (
	"encoding/json"
	"maps"
	"slices"
)

// kindsOfEarlier are the arguments of messages without words whose content is
// known. Any other may quote a server, and is hidden as if it did.
var kindsOfEarlier = map[string]Kind{
	"ns": KindNamespace, "shard": KindShard, "from": KindShard, "to": KindShard, "zone": KindZone, "project": KindProject,
	"min": KindKey, "max": KindKey, "key": KindKey, "by": KindText, "release": KindText,
}

// UnmarshalJSON also reads what earlier versions stored with plans and runs: a
// code and its arguments, without words. It becomes the code with the arguments
// in parentheses, so that a run of last year still says what it was about.
func (m *Message) UnmarshalJSON(data []byte) error {
	type plain Message
	var in struct {
		plain
		Args map[string]string
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*m = Message(in.plain)
	if m.Pattern != "" || len(in.Args) == 0 {
		return nil
	}
	separator := " ("
	m.Pattern = m.Code
	for _, name := range slices.Sorted(maps.Keys(in.Args)) {
		kind, ok := kindsOfEarlier[name]
		if !ok {
			kind = KindServer
		}
		m.Facts = append(m.Facts, Fact{Name: name, Kind: kind, Value: in.Args[name]})
		m.Pattern += separator + name + " {" + name + "}"
		separator = ", "
	}
	m.Pattern += ")"
	return nil
}
