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
	_, err := Compile(j.stages, &inner)
	return each(func(doc bson.Raw, out func(bson.Raw) bool) (bool, error) {
		doc, err := j.join(doc)
		return err == nil && out(doc), err
	}), err
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

func (j *joining) join(d bson.Raw) (bson.Raw, error) {
	vars := with(j.env.Expr.Vars, nil)
	for _, l := range j.let {
		v, err := l.expr.Eval(d, &j.env.Expr)
		if err != nil {
			return nil, err
		}
		vars[l.name] = v
	}
	var stages []bson.Raw
	if j.foreign != "" {
		stages = append(stages, stageOf("$match", j.filter(d)))
	}
	stages = append(stages, j.stages...)
	found := value.NewBuilder(256)
	for f, err := range j.env.Lookup(j.env.DB, j.from, stages, vars) {
		if err != nil {
			return nil, err
		}
		found.Push(value.Doc(f))
	}
	return value.Put(d, j.as, bson.RawValue{Type: bson.TypeArray, Value: found.Raw()}), nil
}

// filter finds what joins with a document: the foreign field equals the local
// one or an element of it; a missing local field counts as null.
func (j *joining) filter(d bson.Raw) bson.RawValue {
	var values []bson.RawValue
	array := false
	value.Walk(d, strings.Split(j.local, "."), false, func(v bson.RawValue) bool {
		switch v.Type {
		case bson.TypeArray:
			array = true
			for item := range value.Items(v) {
				values = append(values, item)
			}
		case 0:
			values = append(values, value.Null())
		default:
			values = append(values, v)
		}
		return true
	})
	if len(values) == 0 && !array {
		values = append(values, value.Null())
	}
	if len(values) == 1 {
		return doc(j.foreign, doc("$eq", values[0]))
	}
	var either []bson.RawValue
	for _, v := range values {
		if v.Type == bson.TypeRegex { // in $in it would be a pattern
			either = append(either, doc(j.foreign, doc("$eq", v)))
		}
	}
	in := doc(j.foreign, doc("$in", value.Array(values...)))
	if either == nil {
		return in
	}
	for _, v := range values {
		if v.Type != bson.TypeRegex {
			either = append(either, doc(j.foreign, doc("$eq", v)))
		}
	}
	return doc("$or", value.Array(either...))
}

// union is $unionWith: the input, then another collection.
func (c *compiler) union(arg bson.RawValue) (stage, error) {
	coll, ok := text(arg)
	var stages []bson.Raw
	if !ok {
		if arg.Type != bson.TypeEmbeddedDocument {
			return nil, status.Errorf(status.FailedToParse,
				"the $unionWith stage specification must be an object or string, but found %s", expr.TypeName(arg))
		}
		coll, _ = text(value.Field(arg.Value, "coll"))
		if v := value.Field(arg.Value, "pipeline"); v.Type != 0 {
			var err error
			if stages, err = List(v); err != nil {
				return nil, err
			}
		}
		if coll == "" {
			return nil, status.Errorf(40414, "BSON field '$unionWith.coll' is missing but a required field")
		}
	}
	if c.env.Lookup == nil {
		return nil, status.Errorf(status.CommandNotSupported, "$unionWith is not available here")
	}
	if _, err := Compile(stages, c.env); err != nil {
		return nil, err
	}
	env := c.env
	return func(in Docs) Docs {
		return concat(in, func(yield func(bson.Raw, error) bool) {
			for d, err := range env.Lookup(env.DB, coll, stages, env.Expr.Vars) {
				if !yield(d, err) {
					return
				}
			}
		})
	}, nil
}

// concat is one stream after the other.
func concat(streams ...Docs) Docs {
	return func(yield func(bson.Raw, error) bool) {
		for _, s := range streams {
			for d, err := range s {
				if !yield(d, err) || err != nil {
					return
				}
			}
		}
	}
}
