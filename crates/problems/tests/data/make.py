"""Writes the files of this folder: small datasets as numpy and Python's pickle make them. All numbers are sixteenths."""
import pickle

import numpy as np

places = np.arange(12).reshape(2, 3, 2) / 16
depot = np.array([[0.5, 0.25], [0.75, 0.125]])
demand = np.array([[1, 2, 3], [4, 5, 6]])
prize = np.array([[0.5, 0.25, 0.125], [1.0, 0.75, 0.0625]])
closed = np.concatenate([places, places[:, :1]], axis=1)
with_depot = np.concatenate([depot[:, None], places, depot[:, None]], axis=1)
ends = np.zeros((2, 1))

np.savez("rl4co_tsp.npz", locs=places.astype(np.float32))
np.savez_compressed("rl4co_cvrp.npz", locs=places.astype(np.float32), depot=depot.astype(np.float32),
                    demand=(demand / 30).astype(np.float32), capacity=np.full((2, 1), 30, np.float32))
np.savez("rl4co_op.npz", locs=places, depot=depot, prize=prize.astype(np.float16), max_length=np.full(2, 2.0))
np.savez("rl4co_atsp.npz", cost_matrix=np.arange(18, dtype=">f4").reshape(2, 3, 3))
np.savez_compressed("bq_tsp_test.npz", coords=closed, tour_lens=[1.5, 1.75], reorder=False)
np.savez_compressed("bq_tsp_train.npz", coords=np.asfortranarray(closed), reorder=True)
np.savez_compressed("bq_cvrp_train.npz", capacities=np.array([6, 9]), coords=with_depot,
                    demands=np.concatenate([ends, demand, ends], axis=1),
                    remaining_capacities=np.zeros((2, 5)), via_depots=np.array([[1., 0, 0, 1, 0], [1., 0, 1, 1, 0]]),
                    reorder=True)
np.savez_compressed("bq_op_train.npz", coords=with_depot, upper_bounds=np.full(2, 4.0),
                    values=np.concatenate([ends, prize, ends], axis=1), solution_lengths=np.array([3, 2]), reorder=True)
np.savez_compressed("bq_kp_test.npz", scale=1000, capacities=np.array([4, 8]), weights=demand,
                    values=demand.astype(np.uint8), optimal_values=np.array([4, 6]), reorder=False)
np.savez("ours.npz", coordinates=places)
with open("tsp.pkl", "wb") as file:
    pickle.dump(places.tolist(), file, pickle.HIGHEST_PROTOCOL)
with open("vrp.pkl", "wb") as file:
    pickle.dump(list(zip(depot.tolist(), places.tolist(), demand.tolist(), [30, 40])), file, pickle.HIGHEST_PROTOCOL)
with open("op.pkl", "wb") as file:
    pickle.dump(list(zip(depot.tolist(), places.tolist(), prize.tolist(), [2.0, 3.0])), file, 2)
