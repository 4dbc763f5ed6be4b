// does not compile
#include <vector>
static float sum_of_a_vector() { std::vector<float> all(3, 1.0f); return all[0] + all[2]; }
static float unused = sum_of_a_vector();
