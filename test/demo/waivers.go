package main

// demoWaivers are the checks that a build machine does not pass although nothing is wrong with the wizard.
func demoWaivers() []string {
	return []string{"hw-cpu", "hw-memory", "hw-disk", "hw-nics", "hw-link"}
}
