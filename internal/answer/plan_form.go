package answer

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// argNames are the arguments of plans, in the order of their description.
func ArgNames() []string {
	return []string{"ns", "at", "parts", "bounds", "chunk", "to", "project", "db", "shard", "zone", "min", "max", "mode", "on", "start", "stop", "force", "expires", "owner", "pause", "chunks", "cuts"}
}

// fieldsOf are what a form of a kind asks for; a trailing * marks what is needed.
func FieldsOf(k actions.Kind) []string {
	switch k {
	case actions.Split:
		return []string{"ns*", "chunk", "bounds", "at", "parts"}
	case actions.SplitProject:
		return []string{"project*", "db", "ns"}
	case actions.SplitHot:
		return []string{"ns*", "chunk", "bounds", "chunks", "at", "to", "cuts", "pause"}
	case actions.Merge:
		return []string{"ns*", "bounds", "min*", "max*"}
	case actions.MoveChunk:
		return []string{"ns*", "chunk", "bounds", "to*", "min", "max", "force", "pause"}
	case actions.Pin, actions.Isolate:
		return []string{"project*", "db", "shard*", "mode", "expires", "owner", "pause"}
	case actions.Spread:
		return []string{"project*", "db", "pause"}
	case actions.Unpin:
		return []string{"project*", "db"}
	case actions.ZoneAddShard, actions.ZoneRemoveShard:
		return []string{"shard*", "zone*"}
	case actions.ZoneSetRange, actions.ZoneRemoveRange:
		return []string{"ns*", "zone*", "min*", "max*"}
	case actions.BalancerWindow:
		return []string{"start", "stop"}
	case actions.BalanceCollection:
		return []string{"ns*", "on*"}
	case actions.ClearJumbo:
		return []string{"ns*", "chunk", "bounds"}
	}
	return nil
}

// formArgs reads the arguments of a form: those that are empty were not given.
func FormArgs(in url.Values) (actions.Args, error) {
	given := map[string]any{}
	for _, name := range ArgNames() {
		value, err := CheckText(`The argument "`+name+`"`, in.Get(name))
		if err != nil {
			return actions.Args{}, err
		}
		plain := strings.TrimSpace(value)
		if plain == "" {
			continue
		}
		switch name {
		case "at", "min", "max", "bounds":
			if !json.Valid([]byte(plain)) {
				return actions.Args{}, fault.New(fault.Invalid, `The argument %q is not a shard-key value in Extended JSON, such as {"project_id": {"$oid": "…"}}.`, name)
			}
			given[name] = json.RawMessage(plain)
		case "chunks":
			given[name] = strings.FieldsFunc(plain, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
		case "cuts":
			if !json.Valid([]byte(plain)) {
				return actions.Args{}, fault.New(fault.Invalid, `The argument "cuts" is not JSON.`)
			}
			given[name] = json.RawMessage(plain)
		case "parts":
			n, err := strconv.Atoi(plain)
			if err != nil {
				return actions.Args{}, fault.New(fault.Invalid, `The argument "parts" is a number of pieces; %q is not.`, sanitize.Truncate(plain, 40))
			}
			given[name] = n
		case "on", "force":
			b, err := strconv.ParseBool(plain)
			if err != nil {
				return actions.Args{}, fault.New(fault.Invalid, `The argument %q is true or false; %q is neither.`, name, sanitize.Truncate(plain, 40))
			}
			given[name] = b
		case "start", "stop", "expires", "pause":
			given[name] = plain
		default:
			given[name] = value
		}
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return actions.Args{}, fault.Wrap(fault.Invalid, err, "The form is not readable.")
	}
	return PlanArgs(raw)
}

// planURL is the address of a form, with arguments as name, value pairs.
func PlanURL(k actions.Kind, pairs ...string) string {
	q := url.Values{"kind": {string(k)}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return "/plans/new?" + q.Encode()
}

// unasked tells whether a form of split-hot leaves a field out: another one says it.
func Unasked(name, value string, in url.Values) bool {
	given := func(name string) bool { return in.Get(name) != "" }
	switch name {
	case "cuts":
		return value == ""
	case "chunk", "at":
		return value == "" && (given("cuts") || given("chunks") || name == "chunk" && given("bounds"))
	case "chunks":
		return value == "" && (given("cuts") || given("chunk") || given("bounds"))
	case "to":
		return value == "" && given("cuts")
	}
	return false
}

// formView draws the fields of one form.
type FormView struct {
	V    View
	Kind actions.Kind
	In   url.Values
	C    *topology.Collection // that ns names, if any
}

func ArgWord(name string) string { return words.Code("arg", name, nil) }

// known tells whether a value names something that there is, and how it is said.
func (f FormView) Known(name, value string) (string, bool) {
	if value == "" {
		return "", false
	}
	switch name {
	case "ns":
		return value, f.C != nil
	case "db":
		return value, slices.Contains(f.V.Dir.Databases(), value)
	case "project":
		id, err := bson.ObjectIDFromHex(value)
		if err != nil {
			return "", false
		}
		p, ok := f.V.Dir.ByID(id)
		return fmt.Sprintf("%s (%s)", NameOf(p), value), ok
	case "chunk":
		return f.Chunk(value)
	case "zone":
		return value, f.Kind != actions.ZoneAddShard && f.Kind != actions.ZoneSetRange && f.zone(value)
	case "shard":
		return value, f.Kind == actions.ZoneAddShard && f.V.Table.Shard(value) != nil || f.Kind == actions.ZoneRemoveShard && f.V.Table.Shard(value) != nil
	case "on":
		return words.Code("arg.on", value, nil), value == "true" || value == "false"
	case "min", "max":
		return value, (f.Kind == actions.ZoneRemoveRange || f.Kind == actions.Merge) && f.C != nil && json.Valid([]byte(value))
	case "bounds", "cuts":
		return value, f.C != nil && json.Valid([]byte(value))
	}
	return "", false
}

func (f FormView) zone(name string) bool {
	return slices.ContainsFunc(f.V.Table.Zones, func(z topology.ZoneRange) bool { return z.Zone == name }) ||
		slices.ContainsFunc(f.V.Table.Shards, func(s topology.Shard) bool { return slices.Contains(s.Zones, name) })
}

func (f FormView) Chunk(ref string) (string, bool) {
	if f.C == nil {
		return "", false
	}
	k, err := ParseChunkRef(f.C, ref)
	if err != nil {
		return "", false
	}
	i, ch := f.C.Chunks.Find(k)
	if ch.Min.Compare(k) != 0 {
		return "", false
	}
	return fmt.Sprintf("%s of %s: %s → %s on %s", format.Count(int64(i+1)), format.Count(int64(f.C.Chunks.Len())), f.C.Key.Display(ch.Min), f.C.Key.Display(ch.Max), ch.Shard), true
}

// hint is what to know of a field; where a kind means something of its own by
// it, that.
func (f FormView) Hint(name string) string {
	if own := "arg.hint." + string(f.Kind) + "." + name; words.Has(own) {
		return words.T(own)
	}
	if words.Has("arg.hint." + name) {
		return words.T("arg.hint." + name)
	}
	return ""
}

func OrNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
