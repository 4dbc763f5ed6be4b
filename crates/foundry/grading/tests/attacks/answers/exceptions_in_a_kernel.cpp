// does not compile
inline float checked(float x)
{
    try {
        if (x < 0.0f)
            throw x;
    } catch (float negative) {
        return -negative;
    }
    return x;
}
