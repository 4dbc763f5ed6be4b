//| image: double[63]
//| height = 7
//| width = 9
//| radius = 1
//| range = 3
//| out: double[63] out
// launch: <<<1, 64>>>
// NVRTC waits for two scoreboards at once.
__device__ void filter(int at, const double* image, int height, int width, int radius, int range, double* out) {
    const int y = at / width;
    const int x = at % width;
    const double centre = image[y * width + x];
    double acc = 0.0;
    double total = 0.0;
    for (int dy = -radius; dy < radius + 1; ++dy) {
        for (int dx = -radius; dx < radius + 1; ++dx) {
            const int sy = y + dy;
            const int sx = x + dx;
            if (sy < 0 || sy >= height || sx < 0 || sx >= width) continue;
            const double difference = (image[sy * width + sx] - centre) / double(range);
            const double weight = exp(-0.5 * double(dx * dx + dy * dy)) * fmax(1.0 - difference * difference, 0.0);
            acc += weight * image[sy * width + sx];
            total += weight;
        }
    }
    out[y * width + x] = acc / total;
}
extern "C" __global__ void bilateral_filter(
    const double* image, int height, int width, int radius, int range, double* out) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < height * width) filter(at, image, height, width, radius, range, out);
}
extern "C" __global__ void plain(
    const double* image, int height, int width, int radius, int range, double* out) {
    for (int at = 0; at < height * width; ++at) filter(at, image, height, width, radius, range, out);
}
