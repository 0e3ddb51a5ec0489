package operators

import (
	"context"
	"fmt"
	"slices"
)

type part = func(context.Context, *Env)

// standIn is what plays one operator, and what plays the rest of the cluster for it when the operator is a real one: what a
// kubelet and the controller of deployments would do with what it makes.
type standIn struct {
	names []string // of its loops, as Stats knows them
	plays []part
	real  part
}

// router is the program that admits routes. Whoever runs it for real plays its pod too, for the real operator alone; its haproxy, and the
// traffic, stay the bench's.
const router = "router"

// staticPods is the part of kube-apiserver's operator that library-go has: whoever runs it for real leaves the configuration to
// its stand-in.
const staticPods = "static-pods"

// standIns are those whose operator, or part of it, someone may run for real, by the name of its ClusterOperator or as staticPods.
func standIns() map[string]standIn {
	return map[string]standIn{
		kas:              {[]string{kasConfig}, []part{runKubeAPIServerConfig}, nil}, // and the static pods
		staticPods:       {[]string{kas}, []part{runKubeAPIServerRevisions, runKubeAPIServer}, runInstallers},
		"ingress":        {[]string{"ingress"}, []part{runIngress, runCanary}, runRouterDeployment},
		router:           {nil, nil, nil}, // what it does is a part of the loop of routes
		"authentication": {[]string{"authentication"}, []part{runAuthentication, runOAuthMetadata}, runAuthDeployments},
		"console":        {[]string{"console"}, []part{runConsole}, runConsoleDeployments},
		"machine-config": {[]string{"machine-config"}, []part{runMachineConfig}, runNodeDaemon}, // the controller alone is real
	}
}

// CheckReal refuses names of operators that have no stand-in to stay away.
func CheckReal(names []string) error {
	for _, name := range names {
		if _, ok := standIns()[name]; !ok {
			return fmt.Errorf("no stand-in for the operator %q can stay away", name)
		}
	}
	return nil
}

// parts are all stand-ins but those whose operator is real.
func (e *Env) parts() []part {
	all := []part{
		runKubeControllerManager, runClientCAs, runOpenShiftAPIServer, runRoutes, runOwnedRoutes,
		runDisruption, runNetwork, runNode, runOVN, runDegraded, runMarketplace,
	}
	for name, s := range standIns() {
		if !e.isReal(name) {
			all = append(all, s.plays...)
			continue
		}
		if s.real != nil {
			all = append(all, s.real)
		}
		for _, loop := range s.names {
			e.Stats.hasRun(loop)
		}
	}
	return all
}

// isReal says whether someone runs an operator for real. The whole one of kube-apiserver has the static pods in it.
func (e *Env) isReal(name string) bool {
	return slices.Contains(e.Real, name) || name == staticPods && slices.Contains(e.Real, kas)
}
