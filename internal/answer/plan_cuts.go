package answer

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/api"
)

// planCuts reads the arguments that name several chunks.
func planCuts(in api.PlanArgs) ([]string, []actions.Cut, error) {
	for i, ref := range in.Chunks {
		if _, err := CheckText(`The argument "chunks", number `+strconv.Itoa(i+1)+",", ref); err != nil {
			return nil, nil, err
		}
	}
	var cuts []actions.Cut
	for i, c := range in.Cuts {
		at := "cuts[" + strconv.Itoa(i) + "]."
		out := actions.Cut{Half: c.Half, To: c.To}
		for _, text := range []struct{ name, value string }{{"half", c.Half}, {"to", c.To}} {
			if _, err := CheckText(`The argument "`+at+text.name+`"`, text.value); err != nil {
				return nil, nil, err
			}
		}
		for _, key := range []struct {
			name string
			from api.Key
			into *bson.Raw
		}{{"min", c.Min, &out.Min}, {"max", c.Max, &out.Max}, {"at", c.At, &out.At}} {
			var err error
			if *key.into, err = planKey(at+key.name, key.from); err != nil {
				return nil, nil, err
			}
		}
		cuts = append(cuts, out)
	}
	return in.Chunks, cuts, nil
}

// cutsOf is the wire form of cuts.
func cutsOf(cuts []actions.Cut) []api.PlanCut {
	var out []api.PlanCut
	for _, c := range cuts {
		out = append(out, api.PlanCut{Min: api.Document(c.Min), Max: api.Document(c.Max), At: api.Document(c.At), Half: c.Half, To: c.To})
	}
	return out
}
