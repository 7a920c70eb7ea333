package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// planArgs reads the arguments of a plan. What is no argument of any kind is
// refused by name; whether the kind takes those that are is its own business.
func PlanArgs(raw json.RawMessage) (actions.Args, error) {
	var in api.PlanArgs
	if len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			return actions.Args{}, badArgs(err)
		}
	}
	out := actions.Args{
		NS: topology.Namespace(in.NS), Parts: in.Parts, Chunk: in.Chunk, To: in.To, Project: in.Project, DB: in.DB, Shard: in.Shard, Zone: in.Zone,
		Mode: in.Mode, On: in.On, Start: in.Start, Stop: in.Stop, Force: in.Force, Owner: in.Owner, Pause: in.Pause,
	}
	if in.Parts < 0 {
		return out, fault.New(fault.Invalid, `The argument "parts" is a number of pieces; %d is not.`, in.Parts)
	}
	for _, text := range []struct{ name, value string }{{"ns", in.NS}, {"chunk", in.Chunk}, {"to", in.To}, {"project", in.Project}, {"db", in.DB},
		{"shard", in.Shard}, {"zone", in.Zone}, {"owner", in.Owner}, {"start", in.Start}, {"stop", in.Stop}, {"pause", in.Pause}} {
		if _, err := CheckText(`The argument "`+text.name+`"`, text.value); err != nil {
			return out, err
		}
	}
	if in.Expires != "" {
		d, err := time.ParseDuration(in.Expires)
		if err != nil || d <= 0 {
			return out, fault.New(fault.Invalid, `The argument "expires" is a duration such as 720h; %q is not.`, sanitize.Truncate(in.Expires, 40))
		}
		out.Expires = d
	}
	var err error
	if out.Chunks, out.Cuts, err = planCuts(in); err != nil {
		return out, err
	}
	if out.Bounds, err = planBounds(in.Bounds); err != nil {
		return out, err
	}
	for _, key := range []struct {
		name string
		from api.Key
		into *bson.Raw
	}{{"at", in.At, &out.At}, {"min", in.Min, &out.Min}, {"max", in.Max, &out.Max}} {
		if *key.into, err = planKey(key.name, key.from); err != nil {
			return out, err
		}
	}
	return out, nil
}

// badArgs names the argument that is wrong, as far as the decoder tells.
func badArgs(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return fault.Wrap(fault.Invalid, err, "The argument %q is not of the right JSON type; found %s.", sanitize.Truncate(wrong.Field, 40), wrong.Value)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Wrap(fault.Invalid, err, `"args" is not a JSON object.`)
	}
	// encoding/json says: json: unknown field "x".
	return fault.Wrap(fault.Invalid, err, `"args" is not an object of known arguments: %s.`, sanitize.Truncate(err.Error(), 120))
}

// planBounds reads [min, max] or {"min": …, "max": …}.
func planBounds(raw json.RawMessage) (out [2]bson.Raw, err error) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return out, nil
	}
	var pair []json.RawMessage
	if raw[0] == '{' {
		var named struct{ Min, Max json.RawMessage }
		if err := json.Unmarshal(raw, &named); err != nil {
			return out, fault.Wrap(fault.Invalid, err, `The argument "bounds" is [min, max] or {"min": …, "max": …}.`)
		}
		pair = []json.RawMessage{named.Min, named.Max}
	} else if err := json.Unmarshal(raw, &pair); err != nil {
		return out, fault.Wrap(fault.Invalid, err, `The argument "bounds" is [min, max] or {"min": …, "max": …}.`)
	}
	if len(pair) != 2 || len(pair[0]) == 0 || len(pair[1]) == 0 {
		return out, fault.New(fault.Invalid, `The argument "bounds" is two keys, [min, max].`)
	}
	for i, name := range []string{"bounds.min", "bounds.max"} {
		if out[i], err = planKey(name, pair[i]); err != nil {
			return out, err
		}
	}
	return out, nil
}

// planKey reads a shard-key value in Extended JSON; none is nil.
func planKey(name string, raw json.RawMessage) (bson.Raw, error) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	doc, err := shardkey.ParseExtJSON(string(raw))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, `The argument %q is not a shard-key value in Extended JSON, such as {"project_id": {"$oid": "…"}}.`, name)
	}
	return doc, nil
}

// argsOf is the wire form of arguments as they were understood.
func ArgsOf(a actions.Args) api.PlanArgs {
	out := api.PlanArgs{
		NS: string(a.NS), At: api.Document(a.At), Parts: a.Parts, Chunk: a.Chunk, To: a.To, Project: a.Project, DB: a.DB, Shard: a.Shard, Zone: a.Zone,
		Min: api.Document(a.Min), Max: api.Document(a.Max), Mode: a.Mode, On: a.On, Start: a.Start, Stop: a.Stop, Force: a.Force, Owner: a.Owner, Pause: a.Pause,
	}
	if a.Expires > 0 {
		out.Expires = a.Expires.String()
	}
	out.Chunks, out.Cuts = a.Chunks, cutsOf(a.Cuts)
	if a.Bounds[0] != nil && a.Bounds[1] != nil {
		out.Bounds, _ = json.Marshal([]api.Key{api.Document(a.Bounds[0]), api.Document(a.Bounds[1])}) // valid JSON or null
	}
	return out
}
