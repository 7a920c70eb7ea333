package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// joining is $lookup: it reads another collection once for each document.
type joining struct {
	env            *Env
	from           string
	as             []string
	local, foreign string
	let            []idPart
	stages         []bson.Raw
	conditions     []expr.Expr // the $expr of the leading $match stages
}

func (c *compiler) lookup(arg bson.RawValue) (stage, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(status.FailedToParse, "the $lookup stage specification must be an object, but found %s", expr.TypeName(arg))
	}
	if c.env.Lookup == nil {
		return nil, status.Errorf(status.CommandNotSupported, "$lookup is not available here")
	}
	j := &joining{env: c.env}
	as, piped := "", false
	var let bson.RawValue
	for k, v := range value.Elements(arg.Value) {
		var err error
		switch k {
		case "from", "as", "localField", "foreignField":
			s, ok := text(v)
			if !ok {
				return nil, status.Errorf(status.FailedToParse, "$lookup argument '%s: %s' must be a string, is type %s", k,
					expr.Text(v), expr.TypeName(v))
			}
			*map[string]*string{"from": &j.from, "as": &as, "localField": &j.local, "foreignField": &j.foreign}[k] = s
		case "let":
			if let = v; v.Type != bson.TypeEmbeddedDocument {
				return nil, status.Errorf(status.FailedToParse, "$lookup argument 'let: %s' must be an object, is type %s",
					expr.Text(v), expr.TypeName(v))
			}
		case "pipeline":
			piped = true
			j.stages, err = List(v)
		default:
			err = status.Errorf(status.FailedToParse, "unknown argument to $lookup: %s", k)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case j.from == "":
		return nil, status.Errorf(status.FailedToParse, "missing 'from' option to $lookup stage specification: %s", expr.Text(arg))
	case as == "":
		return nil, status.Errorf(status.FailedToParse, "must specify 'as' field for a $lookup")
	case (j.local == "") != (j.foreign == ""):
		return nil, status.Errorf(status.FailedToParse, "$lookup requires both or neither of 'localField' and 'foreignField' to be specified")
	case !piped && j.local == "":
		return nil, status.Errorf(status.FailedToParse,
			"$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified")
	case let.Type != 0 && !piped:
		return nil, status.Errorf(status.FailedToParse, "$lookup with a 'let' argument must also specify 'pipeline'")
	}
	j.as = strings.Split(as, ".")
	inner := *c.env
	inner.Expr.Vars = with(c.env.Expr.Vars, nil)
	for name, v := range value.Elements(let.Value) {
		e, err := c.env.Expr.Compile(v)
		if err != nil {
			return nil, err
		}
		j.let = append(j.let, idPart{name, e})
		inner.Expr.Vars[name] = bson.RawValue{}
	}
	// Errors in the inner pipeline are reported before anything is read.
	if _, err := Compile(j.stages, &inner); err != nil {
		return nil, err
	}
	filter, _ := LeadingMatch(j.stages)
	var err error
	j.conditions, err = conditions(filter, &inner.Expr)
	return j, err
}

// conditions are the $expr of a filter, also those under $and.
func conditions(filter bson.Raw, env *expr.Env) ([]expr.Expr, error) {
	var out []expr.Expr
	for name, v := range value.Elements(filter) {
		switch {
		case name == "$expr":
			e, err := env.Compile(v)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		case name == "$and" && v.Type == bson.TypeArray:
			for f := range value.Items(v) {
				more, err := conditions(f.Value, env)
				if err != nil {
					return nil, err
				}
				out = append(out, more...)
			}
		}
	}
	return out, nil
}

// List reads a pipeline: an array of documents.
func List(v bson.RawValue) ([]bson.Raw, error) {
	if v.Type != bson.TypeArray {
		return nil, status.Errorf(status.TypeMismatch, "'pipeline' option must be specified as an array")
	}
	var out []bson.Raw
	for s := range value.Items(v) {
		if s.Type != bson.TypeEmbeddedDocument {
			return nil, status.Errorf(status.TypeMismatch, "Each element of the 'pipeline' array must be an object")
		}
		out = append(out, s.Value)
	}
	return out, nil
}
