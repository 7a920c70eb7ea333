package answer

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/web/words"
)

// differenceText says what changed in one field.
func DifferenceText(d actions.Difference) string {
	key := "difference.changed"
	switch {
	case d.Fact.Kind == "":
		return ofPlan(d)
	case d.Field == "exists" && d.Want == "true":
		key = "difference.notThere"
	case d.Field == "exists":
		key = "difference.there"
	case d.Got == "":
		key = "difference.gone"
	}
	return words.T(key, "subject", FactText(d.Fact), "field", words.Code("field", d.Field, nil), "want", d.Want, "got", d.Got)
}

// ofPlan says what is not as in the plan itself, rather than in the cluster.
func ofPlan(d actions.Difference) string {
	args := []string{"want", d.Want, "got", d.Got}
	switch d.Field {
	case "check":
		return words.T("difference.check", args...)
	case "goal":
		return words.T("difference.goal", args...)
	case "limit.collections", "limit.zones", "limit.shards", "limit.chunks", "limit.bytes":
		return words.T("difference.limit", append(args, "field", words.Code("field", d.Field, nil))...)
	case "hash":
		if d.Got == "" {
			return words.T("difference.hash.none", args...)
		}
		return words.T("difference.hash", args...)
	case "clusterId":
		return words.T("difference.clusterId", args...)
	case "expiresAt":
		return words.T("difference.expiresAt", args...)
	case "command":
		switch {
		case d.Got == "":
			return words.T("difference.command.less", args...)
		case d.Want == "":
			return words.T("difference.command.more", args...)
		}
		return words.T("difference.command", args...)
	}
	return words.T("difference.changed", append(args, "subject", "", "field", words.Code("field", d.Field, nil))...)
}

// factText names what a fact is about.
func FactText(f actions.Fact) string {
	return words.Code("need", string(f.Kind), map[string]string{"ns": string(f.NS), "shard": f.Shard, "zone": f.Zone,
		"min": boundText(f.Min), "max": boundText(f.Max)})
}

// boundText writes a key's values, as tables do.
func boundText(doc bson.Raw) string {
	if IsHidden(doc) {
		return "(hidden)"
	}
	elements, err := doc.Elements()
	if err != nil {
		return ""
	}
	parts := make([]string, len(elements))
	for i, e := range elements {
		parts[i] = PlainValue(e.Value())
	}
	return strings.Join(parts, ", ")
}
