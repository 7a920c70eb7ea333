package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// Transform turns one document into one document.
type Transform interface {
	Apply(doc bson.Raw, env *Env) (bson.Raw, error)
}

// CompileTransform compiles one of the stages $addFields, $set, $unset,
// $project, $replaceRoot and $replaceWith: {"$set": {…}}. ok is false when the
// stage is another one.
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
	case "$replaceRoot", "$replaceWith":
		t, err = c.replaceRoot(name, arg)
	default:
		return nil, false, nil
	}
	return t, true, err
}
