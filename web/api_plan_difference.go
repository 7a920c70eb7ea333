package web

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/web/words"
)

// differenceText says what changed in one field.
func differenceText(d actions.Difference) string {
	key := "difference.changed"
	if d.Got == "" {
		key = "difference.gone"
	}
	return words.T(key, "subject", factText(d.Fact), "field", words.Code("field", d.Field, nil), "want", d.Want, "got", d.Got)
}

// factText names what a fact is about.
func factText(f actions.Fact) string {
	return words.Code("need", string(f.Kind), map[string]string{"ns": string(f.NS), "shard": f.Shard, "zone": f.Zone,
		"min": boundText(f.Min), "max": boundText(f.Max)})
}

// boundText writes a key's values, as tables do.
func boundText(doc bson.Raw) string {
	elements, err := doc.Elements()
	if err != nil {
		return ""
	}
	parts := make([]string, len(elements))
	for i, e := range elements {
		parts[i] = plainValue(e.Value())
	}
	return strings.Join(parts, ", ")
}
