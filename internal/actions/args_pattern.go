package actions

import (
	"bytes"
	"encoding/json"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
)

const samplePattern = `{"project_id": 1, "key": 1}`

// readPattern reads the pattern of a shard key. Numbers become int32, as mongosh and the
// server's own commands write them, so that one pattern has one form.
func readPattern(name string, raw json.RawMessage) (bson.Raw, error) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	doc, err := shardkey.ParseExtJSON(string(raw))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err,
			"The argument %q is not the pattern of a shard key in Extended JSON, such as %s.", name, samplePattern)
	}
	p, err := shardkey.ParsePattern(doc)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The argument %q cannot be a shard key. %s", name,
			sanitize.Truncate(fault.Text(err), 200))
	}
	return p.Raw(), nil
}

// patternJSON writes a pattern as people write it; nil if it is none.
func patternJSON(doc bson.Raw) json.RawMessage {
	if p, err := shardkey.ParsePattern(doc); err == nil {
		return json.RawMessage(p.JSON())
	}
	return nil
}
