package expr

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// Transform turns one document into one document.
type Transform interface {
	Apply(doc bson.Raw, env *Env) (bson.Raw, error)
}

// CompileTransform compiles one of the stages $addFields, $set, $unset and $project:
// {"$set": {…}}. ok is false when the stage is another one.
func (e *Env) CompileTransform(stage bson.Raw) (t Transform, ok bool, err error) {
	name, arg, n := soleField(stage)
	if n != 1 {
		return nil, false, status.Errorf(40323, "A pipeline stage specification object must contain exactly one field.")
	}
	c := &compiler{known: e.known}
	switch name {
	case "$addFields", "$set":
		t, err = c.addFields(name, arg)
	case "$unset":
		t, err = c.unset(arg)
	case "$project":
		t, err = c.project(arg)
	default:
		return nil, false, nil
	}
	return t, true, err
}

// withContext puts "context :: caused by :: " before an error's message, as the
// server does where a stage reports what its parts complained about.
func withContext(err error, context string) error {
	if e, ok := errors.AsType[*status.Error](err); ok {
		return status.Errorf(e.Code, "%s :: caused by :: %s", context, e.Message)
	}
	return err
}
