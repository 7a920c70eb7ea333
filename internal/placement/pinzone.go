package placement

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Zones of pinned projects are named after the project.
const (
	pinPrefix    = "pin-"
	othersPrefix = "others-of-"
)

// PinZone is the zone of a pinned project, by its id in hex.
func PinZone(project string) string { return pinPrefix + project }

// OthersZone is the zone of everything that is kept away from a project.
func OthersZone(project string) string { return othersPrefix + project }

// ZoneProject is the project that a zone is named after, and whether it pins it or
// keeps others away. Somebody else may have named it, in capitals too.
func ZoneProject(zone string) (id bson.ObjectID, pin, ok bool) {
	hex, pin := strings.CutPrefix(zone, pinPrefix)
	if !pin {
		if hex, ok = strings.CutPrefix(zone, othersPrefix); !ok {
			return id, false, false
		}
	}
	id, err := bson.ObjectIDFromHex(hex)
	return id, pin, err == nil
}
