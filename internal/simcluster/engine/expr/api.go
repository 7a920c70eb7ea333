// Package expr compiles and evaluates MongoDB aggregation expressions.
//
// An expression is compiled once and then evaluated on the BSON bytes of many
// documents, without decoding them into maps. Compiled values are immutable and safe
// for concurrent use. The package also compiles the stages that turn one document into
// one document ($set, $unset, $project), because updates with a pipeline
// need them as much as aggregation does.
//
// Behaviour follows MongoDB 5.0: missing is distinct from null, numbers widen
// int → long → double → decimal, errors carry the server's codes.
package expr

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Env is the environment of an evaluation. The zero value is usable: the clock reads
// the zero time. An Env is only read, so it may be shared between goroutines.
type Env struct {
	// Now is $$NOW, in UTC with millisecond precision.
	Now time.Time
	// ClusterTime is $$CLUSTER_TIME.
	ClusterTime bson.Timestamp
	// Vars are the user variables without their "$$" (a command's "let", the
	// "let" of $lookup). A variable that is present with a zero RawValue is
	// defined and missing.
	Vars map[string]bson.RawValue
}

// Expr is a compiled expression; the zero value evaluates to missing.
type Expr struct {
	root   node
	locals int
}

// Compile parses an expression that may use exactly the variables of the
// environment. A nil Env has none.
func (e *Env) Compile(v bson.RawValue) (Expr, error) {
	c := &compiler{known: e.known}
	n, err := c.value(v)
	return Expr{root: n, locals: c.peak}, err
}

func (e *Env) known(name string) bool {
	if e == nil {
		return false
	}
	_, ok := e.Vars[name]
	return ok
}

// Eval computes the expression for one document. A missing result is the zero
// RawValue (Type 0). The result may alias root.
func (e Expr) Eval(root bson.Raw, env *Env) (bson.RawValue, error) {
	if e.root == nil {
		return bson.RawValue{}, nil
	}
	return e.root.eval(newEvaluation(root, env, e.locals))
}

// node is one compiled operation.
type node interface {
	eval(c *evaluation) (bson.RawValue, error)
}

// evaluation is the state of one Eval call.
type evaluation struct {
	root   bson.Raw
	env    *Env
	locals []bson.RawValue // variables of $map and $filter by slot
}
