package actions

import (
	"shardboard/internal/actions/operation"
	"slices"
)

// Arguments returns all arguments, in the order in which they are listed and written.
// Kinds share them: an argument means the same for every kind, though a kind may describe
// it more precisely.
func Arguments() []Argument {
	return []Argument{argNS, argAt, argParts, argBounds, argChunk, argTo, argProject, argDB, argShard, argZone, argMin, argMax,
		argMode, argOn, argSize, argStart, argStop, argDays, argForce, argExpires, argOwner, argPause, argChunks, argCuts,
		argPlans, argProjects, argEach, argCanary, argGroup, argPerShard, argChunksPerHour, argBytesPerHour, argLeaveOut,
		argKey, argZones, argInitialChunks}
}

// ArgumentNamed returns the shared argument with a name.
func ArgumentNamed(name string) (Argument, bool) {
	all := Arguments()
	if i := slices.IndexFunc(all, func(x Argument) bool { return x.Name == name }); i >= 0 {
		return all[i], true
	}
	return Argument{}, false
}

// The shared arguments. A new one also needs a field in Args and a place in Arguments.
var (
	argNS = Argument{
		Name: "ns", Type: TypeCollection, Label: "Collection",
		Help:    "The collection, as database.collection.",
		Subject: true,
		field:   func(a *Args) any { return &a.NS },
	}
	argAt = Argument{
		Name: "at", Type: TypeKey, Label: "At the key",
		Help:  "The shard key to split at, complete, as Extended JSON; hashed fields by their hash.",
		field: func(a *Args) any { return &a.At },
	}
	argParts = Argument{
		Name: "parts", Type: TypeCount, Label: "Into parts",
		Help:  "The number of equal parts to split into, 2 to 64.",
		Least: 2, Most: maxParts,
		field: func(a *Args) any { return &a.Parts },
	}
	argBounds = Argument{
		Name: "bounds", Type: TypeBounds, Label: "Bounds",
		Help:    "The exact bounds of a chunk, [min, max], instead of its reference.",
		Subject: true, Unasked: true,
		field: func(a *Args) any { return &a.Bounds },
	}
	argChunk = Argument{
		Name: "chunk", Type: TypeChunk, Label: "Chunk",
		Help:    "The reference of a chunk.",
		Or:      []string{"bounds"},
		Subject: true,
		field:   func(a *Args) any { return &a.Chunk },
	}
	argTo = Argument{
		Name: "to", Type: TypeShard, Label: "To shard",
		Help:  "The shard to move to.",
		field: func(a *Args) any { return &a.To },
	}
	argProject = Argument{
		Name: "project", Type: TypeProject, Label: "Project",
		Help:    "A project’s id, exact name or public key.",
		Subject: true,
		field:   func(a *Args) any { return &a.Project },
	}
	argDB = Argument{
		Name: "db", Type: TypeDatabase, Label: "Database",
		Help:    "The database of the project, if several databases have it.",
		Subject: true, Unasked: true,
		field: func(a *Args) any { return &a.DB },
	}
	argShard = Argument{
		Name: "shard", Type: TypeShard, Label: "Shard",
		Help:  "The name of a shard.",
		field: func(a *Args) any { return &a.Shard },
	}
	argZone = Argument{
		Name: "zone", Type: TypeZone, Label: "Zone",
		Help:  "The name of a zone.",
		field: func(a *Args) any { return &a.Zone },
	}
	argMin = Argument{
		Name: "min", Type: TypeKey, Label: "From the key",
		Help:  "The lower bound, a shard key as Extended JSON.",
		field: func(a *Args) any { return &a.Min },
	}
	argMax = Argument{
		Name: "max", Type: TypeKey, Label: "To the key, exclusive",
		Help:  "The upper bound, a shard key as Extended JSON.",
		field: func(a *Args) any { return &a.Max },
	}
	argMode = Argument{
		Name: "mode", Type: TypeChoice, Label: "How",
		Help: "Who moves the chunks: this run, or the balancer, which follows the zones.",
		Choices: []Choice{{ModeMoves, "Split and move the chunks in this run"}, {ModeBalancer,
			"Set the zones and let the balancer move the chunks"}},
		Default: ModeMoves,
		field:   func(a *Args) any { return &a.Mode },
	}
	argOn = Argument{
		Name: "on", Type: TypeBool, Label: "Setting",
		Help:    "Whether the kind’s setting is on, or what it is about is allowed.",
		Choices: []Choice{{"true", "on"}, {"false", "off"}},
		Subject: true,
		field:   func(a *Args) any { return &a.On },
	}
	argSize = Argument{
		Name: "size", Type: TypeCount, Label: "Chunk size in MB",
		Help:  "The chunk size in MB, 1 to 1024; 0 (in text also “default”) for that of the cluster.",
		Least: 0, Most: operation.MaxChunkMB, Zero: "default",
		field: func(a *Args) any { return &a.Size },
	}
	argStart = Argument{
		Name: "start", Type: TypeTime, Label: "From",
		Help:  "When the balancer’s window begins, HH:MM by the config server’s clock.",
		field: func(a *Args) any { return &a.Start },
	}
	argStop = Argument{
		Name: "stop", Type: TypeTime, Label: "Until",
		Help:  "When the balancer’s window ends. Without both times, the balancer may run at any time.",
		field: func(a *Args) any { return &a.Stop },
	}
	argDays = Argument{
		Name: "days", Type: TypeText, Label: "Windows by day",
		Help:  "Windows by day of the week (8.3), such as Monday 01:00-05:00, Friday 22:00-23:59. They go before the other times.",
		field: func(a *Args) any { return &a.Days },
	}
	argForce = Argument{
		Name: "force", Type: TypeSwitch, Label: "Even if it is jumbo or too big",
		Help:  "Move the chunk even if it is jumbo or too big. Writes to it wait during the move.",
		field: func(a *Args) any { return &a.Force },
	}
	argExpires = Argument{
		Name: "expires", Type: TypeDuration, Label: "For how long",
		Help:    "After how long the pin is reported as expired, such as 720h. It is not undone by itself.",
		Choices: []Choice{{"24h", "1 day"}, {"168h", "1 week"}, {"720h", "30 days"}, {"2160h", "90 days"}},
		Empty:   "until it is unpinned",
		field:   func(a *Args) any { return &a.Expires },
	}
	argOwner = Argument{
		Name: "owner", Type: TypeText, Label: "Owner",
		Help:  "Who is responsible for the pin.",
		field: func(a *Args) any { return &a.Owner },
	}
	argPause = Argument{
		Name: "pause", Type: TypeChoice, Label: "Pause balancing for this run",
		Help: "What balancing is paused during the run. It is turned on again at the end, also after a stop, a failure or a crash. " +
			"Choose the whole cluster if the cluster user is not permitted to pause single collections.",
		Choices: []Choice{{PauseCollections, "of its collections"}, {PauseBalancer, "of the whole cluster"}},
		Empty:   "no",
		field:   func(a *Args) any { return &a.Pause },
	}
	argChunks = Argument{
		Name: "chunks", Type: TypeChunks, Label: "Several chunks",
		Help:  "References of up to 16 chunks of one collection. In text, separate them by spaces or commas.",
		field: func(a *Args) any { return &a.Chunks },
	}
	argCuts = Argument{
		Name: "cuts", Type: TypeCuts, Label: "As chosen before",
		Help:    "What an earlier plan of split-hot chose for each chunk, to plan the same again: min, max, at, half (lower or upper) and to.",
		Subject: true, Unasked: true,
		field: func(a *Args) any { return &a.Cuts },
	}
	argKey = Argument{
		Name: "key", Type: TypePattern, Label: "New shard key",
		Help:  "The fields of the new shard key in order, each with 1 or \"hashed\", such as {\"project_id\": 1, \"key\": 1}.",
		field: func(a *Args) any { return &a.Key },
	}
	argZones = Argument{
		Name: "zones", Type: TypeZones, Label: "Zones",
		Help: "The zone ranges of the new key, a list of {min, max, zone}; they replace the collection’s zone ranges. " +
			"An empty list removes them.",
		field: func(a *Args) any { return &a.Zones },
	}
	argInitialChunks = Argument{
		Name: "initialChunks", Type: TypeCount, Label: "Chunks at the beginning",
		Help:  "How many chunks the collection has at first; the server’s default is 90. The new key needs at least as many values.",
		Least: 1, Most: maxInitialChunks,
		field: func(a *Args) any { return &a.InitialChunks },
	}
)
