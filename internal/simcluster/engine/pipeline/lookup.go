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
	j := &joining{env: c.env}
	as := ""
	for name, at := range map[string]*string{"from": &j.from, "as": &as, "localField": &j.local, "foreignField": &j.foreign} {
		*at, _ = text(value.Field(arg.Value, name))
	}
	piped := value.Field(arg.Value, "pipeline")
	if piped.Type != 0 {
		var err error
		if j.stages, err = List(piped); err != nil {
			return nil, err
		}
	}
	switch {
	case j.from == "":
		return nil, status.Errorf(status.FailedToParse, "missing 'from' option to $lookup stage specification: %s", expr.Text(arg))
	case as == "":
		return nil, status.Errorf(status.FailedToParse, "must specify 'as' field for a $lookup")
	case (j.local == "") != (j.foreign == "") || piped.Type == 0 && j.local == "":
		return nil, status.Errorf(status.FailedToParse,
			"$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified")
	}
	j.as = strings.Split(as, ".")
	inner := *c.env
	inner.Expr.Vars = with(c.env.Expr.Vars, nil)
	let, _ := value.Field(arg.Value, "let").DocumentOK()
	for name, v := range value.Elements(let) {
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
	var either []bson.RawValue
	equals := func(v bson.RawValue) { // not by $in, where a regular expression would be a pattern
		if v.Type == 0 {
			v = value.Null()
		}
		either = append(either, doc(j.foreign, doc("$eq", v)))
	}
	value.Walk(d, strings.Split(j.local, "."), false, func(v bson.RawValue) bool {
		if v.Type != bson.TypeArray {
			equals(v)
		}
		for item := range value.Items(v) {
			equals(item)
		}
		return true
	})
	if len(either) == 0 {
		return doc(j.foreign, doc("$in", value.Array()))
	}
	return doc("$or", value.Array(either...))
}

// union is $unionWith: the input, then another collection.
func (c *compiler) union(arg bson.RawValue) (stage, error) {
	coll, ok := text(arg)
	var stages []bson.Raw
	if !ok {
		coll, _ = text(value.Field(arg.Value, "coll"))
		if v := value.Field(arg.Value, "pipeline"); v.Type != 0 {
			var err error
			if stages, err = List(v); err != nil {
				return nil, err
			}
		}
	}
	if coll == "" {
		return nil, status.Errorf(40414, "BSON field '$unionWith.coll' is missing but a required field")
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
