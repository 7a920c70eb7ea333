package operation

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
)

// Subject names what the fact is about.
func (f Fact) Subject() message.Message {
	return message.New("need."+string(f.Kind), cmp.Or(subjects[f.Kind], string(f.Kind)), message.Namespace("ns", f.NS),
		message.Text("db", f.DB), message.Shard("shard", f.Shard), message.Zone("zone", f.Zone), message.Key("min", shardkey.PlainValues(f.Min)),
		message.Key("max", shardkey.PlainValues(f.Max)))
}

var subjects = map[FactKind]string{
	FactCollection:  "The collection {ns}",
	FactResharded:   "The collection {ns} after resharding",
	FactResharding:  "The running resharding",
	FactMaintenance: "The maintenance window",
	FactChunk:       "The chunk {min} → {max} of {ns}",
	FactCover:       "The chunks from {min} to {max} of {ns}",
	FactHeld:        "The chunks on {shard} from {min} to {max} of {ns}",
	FactEdge:        "The bound {min} of {ns}",
	FactZoneRange:   "The zone range {min} → {max} of {ns}",
	FactZoneFree:    "The zone ranges between {min} and {max} of {ns}",
	FactShardZone:   "Shard {shard} in the zone {zone}",
	FactShard:       "The shard {shard}",
	FactBalancer:    "The balancer",
	FactDatabase:    "The database {db}",
	FactPlace:       "The collection {ns}",
	FactRemains:     "What is left on {shard}",
	FactSpare:       "The shards without {shard}",
}

// Text is the fact with its expected values.
func (f Fact) Text() string {
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(f.Want)) {
		fields = append(fields, FieldText(name, f.Want[name]))
	}
	return f.Subject().String() + ": " + strings.Join(fields, ", ")
}

// FieldLabel is the name for people of a field of a fact or of Limits.
func FieldLabel(name string) string {
	return cmp.Or(fieldLabels[name], name)
}

var fieldLabels = map[string]string{
	"exists": "exists", "lastmod": "version", "jumbo": "jumbo flag", "uuid": "UUID", "key": "shard key",
	"noBalance": "excluded from balancing", "migrationsBlocked": "moves blocked", "edges": "ends at chunk bounds",
	"ranges": "number of zone ranges", "others": "overlapping ranges", "windowStart": "window from", "windowStop": "window to",
	"windowDays": "window by day",
	"primary":    "primary shard",
	"chunkSize":  "chunk size", "autoMerge": "automatic merging", "defragmentationEnds": "defragmentation ends",
	"replaced": "replaced by a new collection", "resharding": "being resharded", "newKey": "new shard key", "running": "running for",
	"limit.collections": "collections", "limit.zones": "zones", "limit.shards": "receiving shards", "limit.chunks": "moves",
	"limit.kinds": "kinds of commands",
	"limit.bytes": "bytes", "onlyOf": "zones without a shard",
}

// FieldText is a field with its value.
func FieldText(name, value string) string {
	if phrases, ok := truthPhrases[name]; ok && (value == "true" || value == "false") {
		if value == "true" {
			return phrases[0]
		}
		return phrases[1]
	}
	return FieldLabel(name) + " " + ValueText(value)
}

// truthPhrases says what true and false mean in a field.
var truthPhrases = map[string][2]string{
	"exists": {"exists", "does not exist"}, "draining": {"draining", "not draining"}, "member": {"a member", "not a member"},
	"on": {"on", "off"}, "jumbo": {"jumbo", "not jumbo"}, "noBalance": {"balancing off", "balancing on"},
	"migrationsBlocked":   {"moves blocked", "moves allowed"},
	"sharded":             {"sharded", "not sharded"},
	"others":              {"another shard stays", "no other shard stays"},
	"replaced":            {"replaced by a new collection", "the same collection as before"},
	"resharding":          {"being resharded", "not being resharded"},
	"autoMerge":           {"automatic merging on", "automatic merging off"},
	"defragmenting":       {"being defragmented", "not being defragmented"},
	"defragmentationEnds": {"defragmentation ended or in its last phase", "defragmentation not near its end"},
	"edges":               {"begin and end at chunk bounds", "do not begin and end at chunk bounds"},
}

// ValueText is the value of a field.
func ValueText(value string) string {
	if value == "" {
		return "none"
	}
	return sanitize.Line(sanitize.Truncate(value, 300))
}

// Text says what changed in one field.
func (d Difference) Text() message.Message {
	return message.New(d.code(), differencePatterns[d.code()], message.Words("subject", d.Fact.Subject().String()),
		message.Words("field", FieldLabel(d.Field)), message.Text("want", d.Want), message.Text("got", d.Got))
}

// code chooses the sentence.
func (d Difference) code() string {
	if d.Fact.Kind != "" { // of the cluster
		switch {
		case d.Field == "exists" && d.Want == "true":
			return "difference.notThere"
		case d.Field == "exists":
			return "difference.there"
		case d.Got == "":
			return "difference.gone"
		}
		return "difference.changed"
	}
	switch { // of the plan itself
	case strings.HasPrefix(d.Field, "limit."):
		return "difference.limit"
	case d.Field == "hash" && d.Got == "":
		return "difference.hash.none"
	case d.Field == "command" && d.Got == "":
		return "difference.command.less"
	case d.Field == "command" && d.Want == "":
		return "difference.command.more"
	case differencePatterns["difference."+d.Field] != "":
		return "difference." + d.Field
	}
	return "difference.ofPlan"
}

var differencePatterns = map[string]string{
	"difference.changed":      "{subject}: {field}: expected {want}, found {got}.",
	"difference.gone":         "{subject}: {field}: expected {want}, but it no longer exists.",
	"difference.notThere":     "{subject} no longer exists.",
	"difference.there":        "{subject} exists now.",
	"difference.ofPlan":       "{field}: expected {want}, found {got}.",
	"difference.limit":        "Limit of {field}: {want} was confirmed, but {got} would now be needed.",
	"difference.check":        "A check now blocks the plan: {got}.",
	"difference.goal":         "The goal is no longer met. More steps needed: {got}.",
	"difference.hash":         "The plan’s hash is {want}, but {got} was given.",
	"difference.hash.none":    "The plan’s hash is {want}, but none was given.",
	"difference.clusterId":    "The plan is for the cluster {want}, but the cluster {got} answers now.",
	"difference.expiresAt":    "The plan expired at {want}; it is now {got}.",
	"difference.command":      "The command {want} would now be {got}.",
	"difference.command.less": "The command {want} would no longer be sent.",
	"difference.command.more": "The command {got} would now be sent too.",
}
