package main

import (
	"strings"

	"shardboard/internal/api"
)

// withoutFeature says what does not work when the privileges of a feature are missing.
var withoutFeature = map[string]string{
	"routing":      "Nothing can be shown or located.",
	"identity":     "The cluster has no id: data stored about it can't be distinguished from data about other clusters.",
	"zones":        "Zones are not known, and answers do not say whether a zone keeps a chunk on its shard.",
	"balancer":     "It is not known whether the balancer runs, when, and with what chunk size.",
	"routers":      "The list of mongos is not known.",
	"activity":     "Past moves and splits are not shown.",
	"rounds":       "It is not known whether the balancer or somebody else started a move.",
	"inflight":     "Running moves are found only in the changelog, which never shows the end of a move whose donor failed over.",
	"members":      "Answers do not name the primary member of a shard.",
	"distribution": "Sizes are asked for collection by collection, which is slower and costs more.",
	"owners":       "Where a collection's data has been is not known.",
	"unsharded":    "Collections that are not sharded are not shown.",
	"sizes":        "Bytes and documents per shard are not known.",
	"disks":        "How full the shards' disks are is not known.",
	"projects":     "Projects are not listed and can't be located by name or key.",
	"locate":       "Documents, clients and other rows can't be located by key or id.",
	"proof":        "Answers can't be compared with the mongos's own, and rows are not counted.",
	"chunkSizes": "How many documents and bytes single chunks have is estimated only, and plans can't tell for sure whether a chunk " +
		"is small enough to move.",
	"duplicates": "Ids that are on two shards can't be looked for.",
	"heat":       "Writes are not counted where they can't be read, and how busy shards are is not known.",
	"survey":     "The sizes of projects and documents can't be measured in every collection.",

	"operations": "Plans do not show what else is running, and there is less evidence for the outcome of a command without " +
		"an answer.",
	"balancerSwitch":      "The balancer can't be started or stopped.",
	"balancerWindow":      "The balancing window can't be set.",
	"zoneShards":          "Shards can't be added to zones or removed from them.",
	"shardRemoval":        "Shards can't be drained or removed.",
	"configShard":         "A config server that is a shard can't be made a dedicated one.",
	"zoneRanges":          "Zone ranges can't be set or removed: no project can be pinned.",
	"split":               "Chunks can't be split.",
	"merge":               "Chunks can't be merged.",
	"move":                "Chunks can't be moved.",
	"reshard":             "Collections can't be resharded.",
	"moveCollection":      "Unsharded collections can't be moved by themselves.",
	"unshard":             "Collections can't be unsharded.",
	"jumbo":               "Jumbo flags can't be cleared.",
	"refine":              "Shard keys can't be refined, or their plans can't check the index.",
	"migrations":          "Moves of a collection can't be blocked or allowed.",
	"collectionBalancing": "Balancing of one collection can't be turned on or off.",
	"compliance":          "The balancer can't be asked whether it considers a collection balanced.",
}

// checkName is the first column of a check.
func checkName(code string) string {
	switch code {
	case "open", "anonymous":
		return "access"
	case "balancerOn", "balancerOff", "balancerWindow":
		return "balancer"
	}
	return code
}

func checkText(c api.DoctorCheck) string {
	if c.State == "unknown" {
		switch c.Code {
		case "data":
			return "No database with projects was found. Name it with --database, or give its scheme with --profile."
		case "balancer":
			return "The balancer's settings can't be read."
		}
		return "The cluster did not say."
	}
	switch c.Code {
	case "target":
		return c.Args["hosts"] + " is a mongos."
	case "release":
		if c.State == "warns" {
			return c.Args["name"] + " is not a release that shardboard is tested with: 4.4, 5.0, 6.0, 7.0 and 8.0."
		}
		return c.Args["name"]
	case "atlas":
		text := "MongoDB Atlas has roles of its own (Database Access), and refuses some commands to everybody: what it refuses is shown as " +
			"not permitted, and everything else works. shardboard is not tested on Atlas."
		if parts := c.Args["refused"]; parts != "" {
			text += " Refused: " + parts + "."
		}
		return text
	case "access":
		return "The cluster knows the user and lists its privileges."
	case "open":
		return "The cluster has no access control: everyone who can connect has all privileges."
	case "anonymous":
		return "The cluster requires sign-in: put a user name and password into its address."
	case "clock":
		amount, side := c.Args["ahead"], " ahead of"
		if behind, is := strings.CutPrefix(amount, "-"); is {
			amount, side = behind, " behind"
		}
		text := "The mongos's clock is " + amount + side + " this one, ± " + c.Args["plusMinus"] + "."
		if c.State == "warns" {
			text += " Ages and times will look wrong: synchronise the clocks."
		}
		return text
	case "balancerOn":
		return "The balancer is on."
	case "balancerOff":
		return "The balancer is off: nothing moves by itself."
	case "balancerWindow":
		return "The balancer may run only " + c.Args["window"] + ", by the config server's clock."
	case "balancerRefused", "address":
		return c.Args["text"]
	case "cursors":
		if c.State == "warns" {
			return "Without inprog on the cluster, cursors that a killed shardboard leaves on a shard stay there for ten minutes, and which " +
				"open cursors hold up the deletion of old documents is not known. inprog shows everybody's operations."
		}
		return "Open cursors can be read."
	}
	return ""
}
