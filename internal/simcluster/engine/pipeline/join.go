package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

func (j *joining) run(in Docs) Docs {
	return func(yield func(bson.Raw, error) bool) {
		for d, err := range in {
			if err == nil {
				d, err = j.join(d)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
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
	stages = append(stages, j.narrowed(vars)...)
	stages = append(stages, j.stages...)
	found := value.NewBuilder(256)
	for f, err := range j.env.Lookup(j.env.DB, j.from, stages, vars) {
		if err != nil {
			return nil, err
		}
		found.Push(value.Doc(f))
	}
	return put(d, j.as, bson.RawValue{Type: bson.TypeArray, Value: found.Raw()}), nil
}

// narrowed adds plain filters for the conditions of leading $expr, so that an index can
// be used.
func (j *joining) narrowed(vars map[string]bson.RawValue) []bson.Raw {
	if len(j.conditions) == 0 {
		return nil
	}
	env := j.env.Expr
	env.Vars = vars
	var out []bson.Raw
	for _, e := range j.conditions {
		for _, q := range e.Equalities(&env) {
			out = append(out, stageOf("$match", doc(q.Path, doc("$eq", q.Value))))
		}
	}
	return out
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
