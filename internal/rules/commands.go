package rules

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// collection is a collection as mongosh addresses it.
func collection(ns topology.Namespace) string {
	return "db.getSiblingDB(" + sanitize.Quoted(ns.Database()) + ").getCollection(" + sanitize.Quoted(ns.Collection()) + ")"
}

func admin(format string, args ...any) string {
	return "db.adminCommand({" + fmt.Sprintf(format, args...) + "})"
}

// readCommand is a command that changes nothing.
func readCommand(text, code, explanation string) Command {
	return Command{Text: text, Check: true, Explanation: message.New(code, explanation)}
}

// writeCommand is a command that changes the cluster.
func writeCommand(text, code, explanation string) Command {
	return Command{Text: text, Explanation: message.New(code, explanation)}
}

// bounds are a chunk's as the argument of a plan.
func bounds(c *topology.Collection, ch topology.Chunk) string {
	return "[" + c.Key.ExtJSON(ch.Min) + "," + c.Key.ExtJSON(ch.Max) + "]"
}

// document is a stored bound as Extended JSON.
func document(raw bson.Raw) string {
	if len(raw) == 0 {
		return "{}"
	}
	return shardkey.ValueExtJSON(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw})
}

// parsed is how mongosh takes Extended JSON.
func parsed(ext string) string { return parseCall + sanitize.Quoted(ext) + ")" }
