package simcluster

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
)

// parseFilter compiles a filter. Equalities inside $expr, such as those of a correlated
// $lookup, are added outside of it too, because indexes and shard targeting ignore
// $expr. The server does the same (db/matcher/rewrite_expr.cpp).
func parseFilter(filter bson.Raw, env *expr.Env) (*query.Filter, error) {
	bound := exprEqualities(nil, filter, env)
	if len(bound) == 0 {
		return query.Parse(filter, env)
	}
	all := value.NewBuilder(len(filter) + 64).Push(value.Doc(filter))
	for _, d := range bound {
		all.Push(value.Doc(d))
	}
	both := value.NewBuilder(len(filter)+128).Append("$and", bson.RawValue{Type: bson.TypeArray, Value: all.Raw()})
	return query.Parse(both.Raw(), env)
}

// exprEqualities collects what the $expr of a filter, at its top or inside $and, ask
// of single fields.
func exprEqualities(list []bson.Raw, filter bson.Raw, env *expr.Env) []bson.Raw {
	for e := value.Read(filter); e.Next(); {
		switch {
		case string(e.Key) == "$expr":
			list = equalityOf(list, e.Value, env)
		case string(e.Key) == "$and" && e.Value.Type == bson.TypeArray:
			for item := range value.Items(e.Value) {
				if item.Type == bson.TypeEmbeddedDocument {
					list = exprEqualities(list, item.Value, env)
				}
			}
		}
	}
	return list
}

// equalityOf turns {$eq: ["$path", constant]} into {path: {$eq: constant}}. The added
// condition must match everything that the expression matches; the expression stays in
// the filter and decides. Arrays are excluded, because expressions and filters read
// paths through arrays differently.
func equalityOf(list []bson.Raw, v bson.RawValue, env *expr.Env) []bson.Raw {
	if v.Type != bson.TypeEmbeddedDocument {
		return list
	}
	op, arg := value.First(v.Value)
	if arg.Type != bson.TypeArray {
		return list
	}
	switch op {
	case "$and":
		for item := range value.Items(arg) {
			list = equalityOf(list, item, env)
		}
	case "$eq":
		var sides []bson.RawValue
		for item := range value.Items(arg) {
			sides = append(sides, item)
		}
		if len(sides) != 2 {
			return list
		}
		for i := range sides {
			path, isPath := fieldPath(sides[i])
			constant, known := constantOf(sides[1-i], env)
			if isPath && known {
				equal := value.NewBuilder(32).Append("$eq", constant).Raw()
				return append(list, value.NewBuilder(64).Append(path, value.Doc(equal)).Raw())
			}
		}
	}
	return list
}

func fieldPath(v bson.RawValue) (string, bool) {
	s, ok := v.StringValueOK()
	if !ok || len(s) < 2 || s[0] != '$' || s[1] == '$' {
		return "", false
	}
	return s[1:], true
}

// constantOf is the value of an expression that is a constant or a variable.
func constantOf(v bson.RawValue, env *expr.Env) (bson.RawValue, bool) {
	switch v.Type {
	case bson.TypeString:
		s := v.StringValue()
		if name, ok := strings.CutPrefix(s, "$$"); ok && env != nil {
			v = env.Vars[name]
		} else if strings.HasPrefix(s, "$") {
			return v, false
		}
	case bson.TypeEmbeddedDocument:
		op, literal := value.First(v.Value)
		if op != "$literal" {
			return v, false
		}
		v = literal
	}
	switch v.Type {
	case 0, bson.TypeArray, bson.TypeUndefined, bson.TypeRegex:
		return v, false
	}
	return v, true
}
