package access

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Documents returns the documents of admin.system.users and admin.system.roles in _id
// order.
func (c *Control) Documents() (users, roles []bson.D) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, n := range slices.SortedFunc(maps.Keys(c.accounts), compareNames) {
		a := c.accounts[n]
		doc := bson.D{
			{Key: "_id", Value: n.id()},
			{Key: "userId", Value: bson.Binary{Subtype: bson.TypeBinaryUUID, Data: a.id[:]}},
			{Key: "user", Value: n.Name}, {Key: "db", Value: n.DB},
			{Key: "credentials", Value: a.credentialDocument(n)},
		}
		if a.custom != nil {
			doc = append(doc, bson.E{Key: "customData", Value: a.custom})
		}
		users = append(users, append(doc, bson.E{Key: "roles", Value: rolesArray(a.roles)}))
	}
	for _, n := range slices.SortedFunc(maps.Keys(c.roles), compareNames) {
		r := c.roles[n]
		roles = append(roles, bson.D{
			{Key: "_id", Value: n.id()}, {Key: "role", Value: n.Name}, {Key: "db", Value: n.DB},
			{Key: "privileges", Value: r.privileges.list()}, {Key: "roles", Value: rolesArray(r.roles)},
		})
	}
	return users, roles
}

func (a *account) credentialDocument(user Name) bson.D {
	if user.DB == externalDB {
		return bson.D{{Key: "external", Value: true}}
	}
	kept := bson.D{}
	for _, name := range slices.Sorted(maps.Keys(a.credentials)) {
		kept = append(kept, bson.E{Key: name, Value: credentialDocument(a.credentials[name])})
	}
	return kept
}
