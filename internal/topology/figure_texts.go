package topology

// MethodText says in a sentence how a figure was found (Figure.Method). Codes that
// are not known here, as a newer version may have stored, are shown themselves.
func MethodText(code string) string {
	if text, ok := methodTexts[code]; ok {
		return text
	}
	return "Measured by " + code
}

// ReasonDetail says in a sentence why a figure is not known, or what to do about it.
func ReasonDetail(code string) string {
	if text, ok := reasonDetails[code]; ok {
		return text
	}
	return "No reason is known beyond the code " + code + "."
}

var methodTexts = map[string]string{
	"assumedRate":      "Assumed: 10 MB/s and one second per move, because no past move is known",
	"assumedStep":      "Assumed: a tenth of a second per command",
	"changelog":        "Estimated from the moves of the last 15 minutes, as the changelog counts them",
	"changelogRate":    "Estimated from the newest moves in the changelog; ± is how much these differed",
	"chunkPart":        "Estimated: half of a chunk’s share, since how much of it is in the range is not known",
	"chunkShare":       "Estimated from the share of chunks",
	"clientsTimesMean": "Clients of the project times the mean row",
	"cloned":           "Counted by the server, in the changelog",
	"collStats":        "Reported by $collStats, orphaned documents included",
	"collStatsOwned":   "Reported by $collStats, orphaned documents subtracted",
	"count":            "Counted by a query",
	"dataSize":         "Read with dataSize, every document, copies waiting for deletion on other shards included",
	"dataSizeEstimate": "Estimated with dataSize: documents counted, times their average, copies that wait for " +
		"deletion on other shards included",
	"connPoolStats":           "Reported by connPoolStats of mongos",
	"currentOp":               "Reported by $currentOp",
	"dbStats":                 "Reported by dbStats",
	"find":                    "Found by a find of one row",
	"freeDisk":                "Its documents and the free space of its disk, which holds as many bytes of documents as they take now",
	"given":                   "Typed in",
	"drainPace":               "Estimated from the pace of the last half hour",
	"history":                 "From placement history",
	"migrationLog":            "Counted in config.changelog",
	"partial":                 "Sum of what is known so far",
	"pinPlan":                 "From the plan that made it",
	"plan":                    "Follows from the plan: no data moves",
	"projectShare":            "Estimated from the share of chunks and of the projects in them",
	"projectStats":            "Counted by the application and stored with the project",
	"recipientCount":          "Growth of the recipient’s count",
	"routing":                 "Counted in the routing table",
	"rowBounds":               "A range: the counts stored with the project, plus none to all rows of the collections without a count",
	"run":                     "From the run's record",
	"shardedDataDistribution": "Reported by $shardedDataDistribution",
	"shareMoved":              "The current size, plus or minus the estimate of what moves",
	"timed":                   "From when the command was sent to when its effect was read",
	"watched":                 "Seen by this process",
	"writes":                  "New rows counted",
}

var reasonDetails = map[string]string{
	"changed":           "The chunk or its shard key changed while it was measured.",
	"countFell":         "The recipient’s count fell, so copied documents cannot be told apart from other writes.",
	"countedOnce":       "A second count is needed to know how many documents arrived.",
	"failed":            "The cluster’s answer was not understood; the log has it.",
	"inPlace":           "The rows have no date of their last change.",
	"logTooShort":       "The changelog that is kept here does not reach back 15 minutes.",
	"noBudget":          "Reading is limited so that measuring never loads the cluster. Try again in a few seconds.",
	"noDisk":            "The shard did not report how large its disk is. A shard without data of the database that was asked about does not.",
	"noDocuments":       "The chunk is empty.",
	"noRows":            "The project has no rows in collections whose shard key begins with the project.",
	"noneSeen":          "No row of it was among the random rows that were read, so it has few or none.",
	"notAsked":          "One answer counts a limited number of places. Locate one thing at a time.",
	"notCountable":      "There is no value to count by, or it is of a type that is not sent.",
	"notCounted":        "No count is stored with this project (Yorkie stores one since 0.7.10).",
	"notDone":           "No move has ended yet.",
	"notGiven":          "Nothing was typed in.",
	"notKept":           "History records settings and where data was, not what the balancer was doing or how full the disks were.",
	"notListed":         "The statistics list the shards that own chunks, and this one owns none.",
	"notLoaded":         "The first read of statistics has not reached this yet.",
	"notMeasured":       "It depends on the sizes of single chunks, which the balancer measures when it comes to them.",
	"notLogged":         "The server’s changelog has no count for this move.",
	"notRecorded":       "No statistics of it had been recorded by this time.",
	"notPermitted":      "The cluster user is not permitted to read this; collStats needs the clusterMonitor role.",
	"notPlanned":        "The plan has no estimate of this step.",
	"outOfRange":        "The server reports a number that cannot be one: negative, not a number, or larger than any server holds.",
	"notReported":       "This MongoDB version does not report it.",
	"notSurveyed":       "No index finds the rows of one project here, so only a survey or an estimate from random rows can tell.",
	"notTargeted":       "The shard key is not known, so counting would ask every shard.",
	"older":             "A range has left since the last count.",
	"recipientNotAsked": "The recipient has no chunk of this collection yet, so mongos does not ask it.",
	"scattered":         "Every shard would have to scan all of its rows.",
	"tooManyMeasured":   "Measuring is limited, so that it does not slow the cluster down.",
	"tooSlow":           "The count did not end within two seconds and was given up.",
	"unreachable":       "The shard did not answer the last statistics read.",
	"unsharded":         "The collection is not sharded.",
}
