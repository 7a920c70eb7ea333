package words

// problems are the labels of lists of problems.
var problems = map[string]string{

	"method.migrationLog": "Counted in config.changelog",
	"method.run":          "From the run's record",
}
