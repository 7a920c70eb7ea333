package access

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// rule decides who may run a command.
type rule struct {
	open bool // allowed without signing in
	// admin marks a command of the admin database. On any other database it is refused for
	// every user, with a specific error.
	admin bool
	// allows decides from the command's arguments; nil allows every signed-in user.
	allows func(s *Session, r *engine.Request) bool
}

// Known reports whether there is a rule for a command. A command without a rule is
// refused.
func (c *Control) Known(command string) bool {
	_, ok := c.ruleOf(command)
	return ok
}

// Authorize fails when a session may not run a command.
func (c *Control) Authorize(s *Session, r *engine.Request) error {
	if !c.enforced {
		return nil
	}
	u, known := c.ruleOf(r.Name)
	if known && u.admin && r.DB != "admin" {
		return status.Errorf(status.Unauthorized, "%s may only be run against the admin database.", spelling(r.Name))
	}
	if known && u.open {
		return nil
	}
	if !s.SignedIn() {
		command := "command"
		if c.major >= 8 {
			command = "Command"
		}
		return status.Errorf(status.Unauthorized, "%s %s requires authentication", command, spelling(r.Name))
	}
	if known && (u.allows == nil || u.allows(s, r)) || !known && s.May(anyResource(), "internal") {
		return nil
	}
	return status.Errorf(status.Unauthorized, "not authorized on %s to execute command %s", r.DB, shown(r))
}

// shown is a command as quoted in a refusal: without passwords, with long strings and
// binary data truncated (BSONElement::toString, MongoDB 5.0).
func shown(r *engine.Request) string {
	return value.Text(value.Doc(shorten(r.Body, func(key string) bool {
		return key == "pwd" && (r.Name == "createUser" || r.Name == "updateUser")
	})))
}

// shorten replaces hidden top-level fields by "xxx" and truncates long values.
func shorten(doc bson.Raw, hidden func(key string) bool) bson.Raw {
	b := value.NewBuilder(len(doc))
	for key, v := range value.Elements(doc) {
		switch {
		case hidden(key):
			v = value.String("xxx")
		case v.Type == bson.TypeString && len(v.Value) > 4+160:
			v = value.String(string(v.Value[4:4+70]) + "...")
		case v.Type == bson.TypeBinary && len(v.Value) > 5+80:
			// A Code value is printed without quotes.
			long := value.Text(bson.RawValue{Type: v.Type, Value: v.Value[:5+70]})
			v = bson.RawValue{Type: bson.TypeJavaScript, Value: value.String(strings.TrimSuffix(long, ")") + "...)").Value}
		case v.Type == bson.TypeEmbeddedDocument, v.Type == bson.TypeArray:
			v.Value = shorten(v.Value, func(string) bool { return false })
		}
		b.Append(key, v)
	}
	return b.Raw()
}

// spelling maps an old name of a command to the current one.
func spelling(command string) string {
	switch command {
	case "ismaster":
		return "isMaster"
	case "buildinfo":
		return "buildInfo"
	case "findandmodify":
		return "findAndModify"
	case "collstats":
		return "collStats"
	case "datasize":
		return "dataSize"
	case "dbstats":
		return "dbStats"
	case "deleteIndexes":
		return "dropIndexes"
	case "isdbGrid":
		return "isdbgrid"
	case "enablesharding":
		return "enableSharding"
	case "shardcollection":
		return "shardCollection"
	case "movechunk":
		return "moveChunk"
	case "removeshard":
		return "removeShard"
	case "moveprimary":
		return "movePrimary"
	case "addshard":
		return "addShard"
	}
	return command
}

func (c *Control) ruleOf(command string) (rule, bool) {
	u, ok := c.rules[spelling(command)]
	return u, ok
}
